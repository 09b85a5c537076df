package dev.llmresilience.tokens;

import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.Usage;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.TokenUsageReader;
import org.jspecify.annotations.Nullable;

/**
 * Reads the usage of the {@code Message} of Anthropic's Java SDK. What was written to the
 * prompt cache counts against the limit on input; what was read from it does not, for
 * most models
 * (<a href="https://docs.claude.com/en/api/rate-limits#cache-aware-itpm">cache-aware
 * ITPM</a>).
 */
final class AnthropicUsage implements TokenUsageReader {

	@Override
	public @Nullable TokenUsage read(Object result) {
		Usage usage = (result instanceof Message message) ? message._usage().asKnown().orElse(null) : null;
		if (usage == null) {
			return null;
		}
		Long input = usage._inputTokens().asKnown().orElse(null);
		Long written = usage._cacheCreationInputTokens().asKnown().orElse(null);
		return TokenUsageReaders.usage(
				(input != null || written != null)
						? TokenUsageReaders.atLeastZero(input) + TokenUsageReaders.atLeastZero(written) : null,
				usage._outputTokens().asKnown().orElse(null));
	}

}
