package dev.llmresilience.tokens;

import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.output.Response;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.TokenUsageReader;
import org.jspecify.annotations.Nullable;

/**
 * Reads the usage of LangChain4j's {@code ChatResponse}, and of the {@code Response} of
 * its embedding and other models. Some modules make it all zeros where the provider says
 * nothing.
 */
final class LangChain4jUsage implements TokenUsageReader {

	@Override
	public @Nullable TokenUsage read(Object result) {
		if (result instanceof ChatResponse response) {
			return of(response.tokenUsage());
		}
		return (result instanceof Response<?> response) ? of(response.tokenUsage()) : null;
	}

	private static @Nullable TokenUsage of(dev.langchain4j.model.output.@Nullable TokenUsage usage) {
		TokenUsage read = (usage != null) ? TokenUsageReaders.usage(usage.inputTokenCount(), usage.outputTokenCount())
				: null;
		return (read != null && read.total() > 0) ? read : null;
	}

}
