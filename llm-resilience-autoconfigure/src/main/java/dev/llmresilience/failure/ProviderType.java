package dev.llmresilience.failure;

/**
 * The API dialect that a provider entry speaks: it selects the rules that judge the
 * provider's failures. A dialect without rules of its own is judged by the generic ones,
 * which know what most providers imitate.
 */
public enum ProviderType {

	/** Anthropic's API, also where a cloud hosts it. */
	ANTHROPIC(new AnthropicRules()),

	/** OpenAI's API. */
	OPENAI(new OpenAiRules()),

	/** OpenAI's API as Azure hosts it. */
	AZURE_OPENAI(new OpenAiRules()),

	/** Google's Gemini API and Vertex AI. */
	GOOGLE(new GenericRules()),

	/** AWS Bedrock. */
	BEDROCK(new GenericRules()),

	/** Mistral's API. */
	MISTRAL(new GenericRules()),

	/** Cohere's API. */
	COHERE(new GenericRules()),

	/** Groq's API. */
	GROQ(new GenericRules()),

	/** DeepSeek's API. */
	DEEPSEEK(new GenericRules()),

	/** OpenRouter's API. */
	OPENROUTER(new GenericRules()),

	/** xAI's API. */
	XAI(new GenericRules()),

	/** Ollama's API. */
	OLLAMA(new GenericRules()),

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
