package dev.llmresilience.failure;

import java.util.regex.Pattern;

import dev.llmresilience.FailureKind;
import org.jspecify.annotations.Nullable;

/**
 * Cohere's words. Its bodies have a message and no code; the months of trial keys and of
 * billing limits are told by words that all providers share.
 */
final class CohereRules implements ProviderRules {

	// At others this is a throttle.
	private static final Pattern TOO_MANY_TOKENS = Pattern.compile("^too many tokens",
			Pattern.CASE_INSENSITIVE | Pattern.MULTILINE);

	@Override
	public @Nullable FailureKind kind(int status, ErrorBody body) {
		return (status == 400 && TOO_MANY_TOKENS.matcher(body.text()).find()) ? FailureKind.TOO_LARGE : null;
	}

	@Override
	public @Nullable Quota quota(int status, ErrorBody body) {
		return null;
	}

	@Override
	public String resetHeader() {
		return "x-ratelimit-reset";
	}

}
