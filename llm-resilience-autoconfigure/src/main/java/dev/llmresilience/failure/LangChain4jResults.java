package dev.llmresilience.failure;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.llmresilience.LlmFailure;
import org.jspecify.annotations.Nullable;

/**
 * Finds failures in LangChain4j's {@code ChatResponse}. It keeps no error and translates
 * finish reasons into its own, so that what is left of a failed generation is an answer
 * without any content and without a reason; that deserves one retry.
 */
final class LangChain4jResults implements ResultClassifier {

	@Override
	public boolean knows(Object result) {
		return result instanceof ChatResponse;
	}

	@Override
	public @Nullable LlmFailure classify(Object result, FailureContext context) {
		if (!(result instanceof ChatResponse response)) {
			return null;
		}
		AiMessage message = response.aiMessage();
		LlmFailure failure = InBandErrors.ofError(message.attributes().get("error"), context);
		if (failure != null) {
			return failure;
		}
		return (response.finishReason() == null && isEmpty(message)) ? InBandErrors.nothing().withMaxRetries(1) : null;
	}

	private static boolean isEmpty(AiMessage message) {
		return isBlank(message.text()) && isBlank(message.thinking()) && !message.hasToolExecutionRequests()
				&& message.images().isEmpty();
	}

	private static boolean isBlank(@Nullable String text) {
		return text == null || text.isBlank();
	}

}
