package dev.llmresilience.failure;

/**
 * The API dialect that a provider entry speaks: it selects the rules that judge the
 * provider's failures. A dialect without rules of its own is judged by the generic ones,
 * which know what most providers imitate.
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

	ProviderRules rules() {
		return switch (this) {
			case ANTHROPIC -> new AnthropicRules();
			case OPENAI, AZURE_OPENAI -> new OpenAiRules();
			case GOOGLE, BEDROCK, MISTRAL, COHERE, GROQ, DEEPSEEK, OPENROUTER, XAI, OLLAMA, GENERIC ->
				new GenericRules();
		};
	}

}
