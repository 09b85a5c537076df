package dev.llmresilience.tokens;

import dev.llmresilience.TokenUsage;
import dev.llmresilience.TokenUsageReader;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.metadata.Usage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.embedding.EmbeddingResponse;

/**
 * Reads the usage of Spring AI's {@code ChatResponse} and {@code EmbeddingResponse},
 * which is all zeros where the provider says nothing. Only modules of providers whose
 * prompt tokens leave the cache out tell what was written to it, so that is added; what
 * was read from it stays out.
 */
final class SpringAiUsage implements TokenUsageReader {

	@Override
	public @Nullable TokenUsage read(Object result) {
		if (result instanceof ChatResponse response) {
			return of(response.getMetadata().getUsage());
		}
		return (result instanceof EmbeddingResponse response) ? of(response.getMetadata().getUsage()) : null;
	}

	private static @Nullable TokenUsage of(Usage usage) {
		TokenUsage read = new TokenUsage(
				TokenUsageReaders.atLeastZero(usage.getPromptTokens())
						+ TokenUsageReaders.atLeastZero(usage.getCacheWriteInputTokens()),
				TokenUsageReaders.atLeastZero(usage.getCompletionTokens()));
		return (read.total() > 0) ? read : null;
	}

}
