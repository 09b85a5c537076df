package dev.llmresilience.failure;

import dev.llmresilience.LlmFailure;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/**
 * Finds failures in Spring AI's {@code ChatResponse}. Its modules make an empty one of an
 * answer without choices; chunks of a stream that only carry the usage or a filter's
 * verdict have no generation either, but say whose they are.
 */
final class SpringAiResults implements ResultClassifier {

	private static final String ERROR = "error";

	@Override
	public boolean knows(Object result) {
		return result instanceof ChatResponse;
	}

	@Override
	public @Nullable LlmFailure classify(Object result, FailureContext context) {
		if (!(result instanceof ChatResponse response)) {
			return null;
		}
		ChatResponseMetadata metadata = response.getMetadata();
		LlmFailure failure = InBandErrors.ofError(metadata.get(ERROR), context);
		if (failure != null) {
			return failure;
		}
		if (response.getResults().isEmpty()) {
			return isBlank(metadata) ? InBandErrors.nothing() : null;
		}
		for (Generation generation : response.getResults()) {
			failure = ofGeneration(generation.getMetadata(), context);
			if (failure != null) {
				return failure;
			}
		}
		return null;
	}

	private static @Nullable LlmFailure ofGeneration(ChatGenerationMetadata metadata, FailureContext context) {
		LlmFailure failure = InBandErrors.ofError(metadata.get(ERROR), context);
		return (failure != null) ? failure : InBandErrors.ofFinishReason(metadata.getFinishReason());
	}

	private static boolean isBlank(ChatResponseMetadata metadata) {
		return metadata.isEmpty() && isBlank(metadata.getId()) && isBlank(metadata.getModel())
				&& metadata.getUsage().getTotalTokens() == 0;
	}

	private static boolean isBlank(@Nullable String text) {
		return text == null || text.isBlank();
	}

}
