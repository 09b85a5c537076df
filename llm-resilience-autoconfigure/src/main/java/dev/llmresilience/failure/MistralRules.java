package dev.llmresilience.failure;

import java.util.Map;
import java.util.regex.Pattern;

import dev.llmresilience.FailureKind;
import org.jspecify.annotations.Nullable;

/**
 * Mistral's words. Its bodies are flat and its codes are numbers in strings.
 */
final class MistralRules implements ProviderRules {

	private static final CodeTable CODES = new CodeTable(Map.of("service_tier_capacity_exceeded",
			FailureKind.RATE_LIMITED, "rate_limited", FailureKind.RATE_LIMITED, "1300", FailureKind.RATE_LIMITED,
			"3505", FailureKind.RATE_LIMITED, "context_length_exceeded", FailureKind.TOO_LARGE));

	// Has come as a 422 (spring-projects/spring-ai#433).
	private static final Pattern RATE_LIMIT = Pattern.compile("^(?:requests )?rate limit exceeded",
			Pattern.CASE_INSENSITIVE | Pattern.MULTILINE);

	@Override
	public @Nullable FailureKind kind(int status, ErrorBody body) {
		FailureKind kind = CODES.kind(status, body);
		if (kind == null && status == 422 && RATE_LIMIT.matcher(body.text()).find()) {
			return FailureKind.RATE_LIMITED;
		}
		return kind;
	}

	@Override
	public @Nullable Quota quota(int status, ErrorBody body) {
		return null;
	}

	@Override
	public String resetHeader() {
		return "ratelimitbysize-reset";
	}

}
