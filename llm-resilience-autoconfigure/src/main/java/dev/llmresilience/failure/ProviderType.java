package dev.llmresilience.failure;

/**
 * The API dialect that a provider entry speaks: it selects the rules that judge the
 * provider's failures.
 */
public enum ProviderType {

	/** Anthropic's API, also where a cloud hosts it. */
	ANTHROPIC {
		@Override
		ProviderRules rules() {
			return new AnthropicRules();
		}
	},

	/** OpenAI's API. */
	OPENAI {
		@Override
		ProviderRules rules() {
			return new OpenAiRules();
		}
	},

	/** Anything else: judged by status, standard headers and the commonest body forms. */
	GENERIC {
		@Override
		ProviderRules rules() {
			return new GenericRules();
		}
	};

	abstract ProviderRules rules();

}
