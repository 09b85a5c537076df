package dev.llmresilience.failure;

import java.util.Map;
import java.util.regex.Pattern;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure.LatchScope;
import org.jspecify.annotations.Nullable;

/**
 * OpenAI's words, as its error-codes page has them. Billing failures share the type
 * {@code insufficient_quota} while the code tells which, so the code is read first.
 */
final class OpenAiRules implements ProviderRules {

	private static final CodeTable CODES = new CodeTable(Map.ofEntries(
			Map.entry("rate_limit_exceeded", FailureKind.RATE_LIMITED),
			Map.entry("rate_limit_error", FailureKind.RATE_LIMITED), Map.entry("slow_down", FailureKind.RATE_LIMITED),
			Map.entry("server_is_overloaded", FailureKind.OVERLOADED),
			Map.entry("service_unavailable_error", FailureKind.OVERLOADED),
			Map.entry("server_error", FailureKind.SERVER_ERROR), Map.entry("conflict", FailureKind.CONFLICT),
			Map.entry("context_length_exceeded", FailureKind.TOO_LARGE),
			Map.entry("string_above_max_length", FailureKind.TOO_LARGE),
			Map.entry("invalid_api_key", FailureKind.UNAUTHORIZED),
			Map.entry("model_not_found", FailureKind.INVALID_REQUEST),
			Map.entry("content_filter", FailureKind.INVALID_REQUEST),
			Map.entry("content_policy_violation", FailureKind.INVALID_REQUEST),
			Map.entry("invalid_prompt", FailureKind.INVALID_REQUEST),
			Map.entry("invalid_request_error", FailureKind.INVALID_REQUEST)));

	// A project's cap leaves the account's other projects working.
	private static final Map<String, LatchScope> MONEY = Map.of("project_spend_limit_exceeded", LatchScope.PROVIDER,
			"credit_balance_exhausted", LatchScope.ACCOUNT, "organization_spend_limit_exceeded", LatchScope.ACCOUNT,
			"organization_usage_limit_exceeded", LatchScope.ACCOUNT, "billing_hard_limit_reached", LatchScope.ACCOUNT,
			"billing_not_active", LatchScope.ACCOUNT, "insufficient_quota", LatchScope.ACCOUNT, "usage_limit_reached",
			LatchScope.ACCOUNT);

	// For clients that keep the message only. Google uses the same sentence for limits
	// that pass in a minute, so it takes the address behind it to tell.
	private static final Pattern MONEY_TEXT = Pattern
		.compile("exceeded your current quota[^\\n]{0,200}platform\\.openai\\.com", Pattern.CASE_INSENSITIVE);

	@Override
	public @Nullable FailureKind kind(int status, ErrorBody body) {
		return CODES.kind(status, body);
	}

	@Override
	public @Nullable Quota quota(int status, ErrorBody body) {
		String code = body.codeIn(MONEY.keySet());
		if (code != null) {
			return new Quota(code, MONEY.getOrDefault(code, LatchScope.ACCOUNT));
		}
		return (body.text().contains("exceeded your current quota") && MONEY_TEXT.matcher(body.text()).find())
				? Quota.UNCODED : null;
	}

}
