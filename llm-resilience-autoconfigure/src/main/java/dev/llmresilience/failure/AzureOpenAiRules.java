package dev.llmresilience.failure;

import java.util.Map;
import java.util.regex.Pattern;

import dev.llmresilience.FailureKind;
import org.jspecify.annotations.Nullable;

/**
 * What Azure adds to OpenAI's words: its models' page on quotas, and the API Management
 * gateway that many put in front of it, which answers 429 for a rate and 403 for a quota
 * of calls or bandwidth.
 */
final class AzureOpenAiRules implements ProviderRules {

	private static final CodeTable CODES = new CodeTable(Map.of("ratelimitreached", FailureKind.RATE_LIMITED,
			"too_many_requests", FailureKind.RATE_LIMITED, "nocapacity", FailureKind.OVERLOADED, "tokens_limit_reached",
			FailureKind.TOO_LARGE, "responsibleaipolicyviolation", FailureKind.INVALID_REQUEST));

	private static final Pattern GATEWAY_QUOTA = Pattern.compile(
			"^(?:out of (?:call volume|bandwidth) quota|token quota is exceeded)",
			Pattern.CASE_INSENSITIVE | Pattern.MULTILINE);

	@Override
	public @Nullable FailureKind kind(int status, ErrorBody body) {
		return CODES.kind(status, body);
	}

	@Override
	public @Nullable Quota quota(int status, ErrorBody body) {
		return (status == 403 && GATEWAY_QUOTA.matcher(body.text()).find()) ? Quota.UNCODED : null;
	}

}
