package dev.llmresilience.autoconfigure;

import java.util.Map;

/**
 * The properties of Spring AI 2.0 that say how often it retries.
 */
final class SpringAiProperties {

	/**
	 * Of the template that the modules without an SDK of their own use. Counts retries,
	 * although it is named for attempts.
	 */
	static final String RETRY = "spring.ai.retry.max-attempts";

	static final int RETRY_DEFAULT = 10;

	/** Of Anthropic's SDK. */
	static final String ANTHROPIC = "spring.ai.anthropic.max-retries";

	static final int ANTHROPIC_DEFAULT = 2;

	/** Of OpenAI's SDK, for all models. */
	static final String OPENAI = "spring.ai.openai.max-retries";

	/** A model's own property that has this value is taken for one that is not set. */
	static final int OPENAI_DEFAULT = 3;

	static final String RETRY_TEMPLATE = "org.springframework.ai.retry.autoconfigure.SpringAiRetryAutoConfiguration";

	static final String ANTHROPIC_MODEL = "org.springframework.ai.model.anthropic.autoconfigure.AnthropicChatAutoConfiguration";

	/**
	 * By the configuration that makes the model: what counts more than the common one.
	 */
	static final Map<String, String> OPENAI_MODELS = Map.of(model("Chat"), "spring.ai.openai.chat.max-retries",
			model("Embedding"), "spring.ai.openai.embedding.max-retries", model("Image"),
			"spring.ai.openai.image.max-retries", model("AudioSpeech"), "spring.ai.openai.audio.speech.max-retries",
			model("AudioTranscription"), "spring.ai.openai.audio.transcription.max-retries", model("Moderation"),
			"spring.ai.openai.moderation.max-retries");

	private SpringAiProperties() {
	}

	private static String model(String name) {
		return "org.springframework.ai.model.openai.autoconfigure.OpenAi" + name + "AutoConfiguration";
	}

}
