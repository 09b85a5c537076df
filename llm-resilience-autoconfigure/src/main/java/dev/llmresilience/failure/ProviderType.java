package dev.llmresilience.failure;

/**
 * The API dialect that a provider entry speaks: it selects the rules that judge the
 * provider's failures.
 */
public enum ProviderType {

	/** Anthropic's API, also where a cloud hosts it. */
	ANTHROPIC,

	/** OpenAI's API. */
	OPENAI,

	/** Anything else: judged by status, standard headers and the commonest body forms. */
	GENERIC

}
