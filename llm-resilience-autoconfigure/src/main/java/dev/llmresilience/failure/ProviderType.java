package dev.llmresilience.failure;

/**
 * The API dialect that a provider entry speaks: it selects the rules that judge the
 * provider's failures.
 */
public enum ProviderType {

	/** Anthropic's API, also where a cloud hosts it. */
	ANTHROPIC(new AnthropicRules()),

	/** OpenAI's API. */
	OPENAI(new OpenAiRules()),

	/** Anything else: judged by status, standard headers and the commonest body forms. */
	GENERIC(new GenericRules());

	private final ProviderRules rules;

	ProviderType(ProviderRules rules) {
		this.rules = rules;
	}

	ProviderRules rules() {
		return this.rules;
	}

}
