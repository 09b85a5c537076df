package dev.llmresilience.failure;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The API dialect that a provider entry speaks: it selects the rules that judge the
 * provider's failures. Behind each dialect's own words stand the generic ones, which know
 * what most providers imitate and gateways say.
 */
public enum ProviderType {

	/** Anthropic's API, also where a cloud hosts it. */
	ANTHROPIC,

	/** OpenAI's API. */
	OPENAI,

	/** OpenAI's API as Azure hosts it. */
	AZURE_OPENAI,

	/** Google's Gemini API and Vertex AI. */
	GOOGLE,

	/** AWS Bedrock. */
	BEDROCK,

	/** Mistral's API. */
	MISTRAL,

	/** Cohere's API. */
	COHERE,

	/** Groq's API. */
	GROQ,

	/** DeepSeek's API. */
	DEEPSEEK,

	/** OpenRouter's API. */
	OPENROUTER,

	/** xAI's API. */
	XAI,

	/** Ollama's API. */
	OLLAMA,

	/** Anything else: judged by status, standard headers and the commonest body forms. */
	GENERIC;

	/**
	 * The hosts that the provider itself answers from. Empty for APIs that have a host of
	 * their own in each region, account or installation: there every host may be the
	 * provider.
	 * @return the hosts, in lower case; empty for all
	 */
	public List<String> hosts() {
		return switch (this) {
			case ANTHROPIC -> List.of("api.anthropic.com");
			case OPENAI -> List.of("api.openai.com", "eu.api.openai.com", "us.api.openai.com");
			case MISTRAL -> List.of("api.mistral.ai", "codestral.mistral.ai");
			case COHERE -> List.of("api.cohere.com", "api.cohere.ai");
			case GROQ -> List.of("api.groq.com");
			case DEEPSEEK -> List.of("api.deepseek.com");
			case OPENROUTER -> List.of("openrouter.ai");
			case XAI -> List.of("api.x.ai");
			case AZURE_OPENAI, GOOGLE, BEDROCK, OLLAMA, GENERIC -> List.of();
		};
	}

	ProviderRules rules() {
		return Objects.requireNonNull(Rules.BY_TYPE.get(this));
	}

	/**
	 * One set of rules per type, made when the first failure is judged.
	 */
	private static final class Rules {

		static final Map<ProviderType, ProviderRules> BY_TYPE = new EnumMap<>(ProviderType.class);

		static {
			for (ProviderType type : ProviderType.values()) {
				BY_TYPE.put(type, rules(type));
			}
		}

		private static ProviderRules rules(ProviderType type) {
			return switch (type) {
				case ANTHROPIC -> new GenericRules(new AnthropicRules());
				case OPENAI -> new GenericRules(new OpenAiRules());
				case AZURE_OPENAI -> new GenericRules(new AzureOpenAiRules());
				case GOOGLE -> new GenericRules(new GoogleRules());
				case BEDROCK -> new GenericRules(new BedrockRules());
				case MISTRAL -> new GenericRules(new MistralRules());
				case COHERE -> new GenericRules(new CohereRules());
				case GROQ -> new GenericRules(new GroqRules());
				case DEEPSEEK -> new GenericRules(new DeepSeekRules());
				case OPENROUTER -> new GenericRules(new OpenRouterRules());
				case XAI -> new GenericRules(new XaiRules());
				case OLLAMA -> new GenericRules(new OllamaRules());
				case GENERIC -> new GenericRules();
			};
		}

	}

}
