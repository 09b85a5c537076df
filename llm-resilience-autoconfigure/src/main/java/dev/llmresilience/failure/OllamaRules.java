package dev.llmresilience.failure;

import java.util.regex.Pattern;

import dev.llmresilience.FailureKind;
import org.jspecify.annotations.Nullable;

/**
 * Ollama's words. Its errors are bare sentences; a full queue is a 503, and everything
 * else a 500: also a model that does not fit into memory, which no retry makes fit.
 */
final class OllamaRules implements ProviderRules {

	private static final Pattern DOES_NOT_FIT = Pattern
		.compile("\\brequires more system memory\\b|\\bout of memory\\b|\\bunable to load model\\b"
				+ "|\\bmodel failed to load\\b|\\berror loading model\\b", Pattern.CASE_INSENSITIVE);

	private static final Pattern BUSY = Pattern.compile("^server busy\\b|\\bmaximum pending requests exceeded\\b",
			Pattern.CASE_INSENSITIVE | Pattern.MULTILINE);

	@Override
	public @Nullable FailureKind kind(int status, ErrorBody body) {
		if (status != 0 && status != 500) {
			return null;
		}
		if (DOES_NOT_FIT.matcher(body.text()).find()) {
			return FailureKind.MISCONFIGURED;
		}
		return BUSY.matcher(body.text()).find() ? FailureKind.OVERLOADED : null;
	}

	@Override
	public @Nullable Quota quota(int status, ErrorBody body) {
		return null;
	}

}
