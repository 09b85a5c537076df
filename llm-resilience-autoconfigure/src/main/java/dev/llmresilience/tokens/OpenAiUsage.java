package dev.llmresilience.tokens;

import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.completions.CompletionUsage;
import com.openai.models.embeddings.CreateEmbeddingResponse;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseUsage;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.TokenUsageReader;
import org.jspecify.annotations.Nullable;

/**
 * Reads the usage of the {@code ChatCompletion}, the {@code Response} and the
 * {@code CreateEmbeddingResponse} of OpenAI's Java SDK. Cached input is part of the input
 * there, and counts against the limit like the rest.
 */
final class OpenAiUsage implements TokenUsageReader {

	@Override
	public @Nullable TokenUsage read(Object result) {
		if (result instanceof ChatCompletion completion) {
			return ofCompletion(completion._usage().asKnown().orElse(null));
		}
		if (result instanceof Response response) {
			return ofResponse(response._usage().asKnown().orElse(null));
		}
		return (result instanceof CreateEmbeddingResponse embeddings)
				? ofEmbeddings(embeddings._usage().asKnown().orElse(null)) : null;
	}

	private static @Nullable TokenUsage ofCompletion(@Nullable CompletionUsage usage) {
		return (usage != null) ? TokenUsageReaders.usage(usage._promptTokens().asKnown().orElse(null),
				usage._completionTokens().asKnown().orElse(null)) : null;
	}

	private static @Nullable TokenUsage ofResponse(@Nullable ResponseUsage usage) {
		return (usage != null) ? TokenUsageReaders.usage(usage._inputTokens().asKnown().orElse(null),
				usage._outputTokens().asKnown().orElse(null)) : null;
	}

	private static @Nullable TokenUsage ofEmbeddings(CreateEmbeddingResponse.@Nullable Usage usage) {
		return (usage != null) ? TokenUsageReaders.usage(usage._promptTokens().asKnown().orElse(null), null) : null;
	}

}
