package dev.llmresilience.failure;

import java.util.Map;
import java.util.Set;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure.LatchScope;
import org.jspecify.annotations.Nullable;

/**
 * OpenRouter's words, as its errors page has them. Its codes are HTTP statuses, and what
 * they mean stands in {@code metadata.error_type} and {@code metadata.limit_source}.
 */
final class OpenRouterRules implements ProviderRules {

	// Budgets of calls in flight, which are free again when those calls end; both share
	// the status, and may share the type, of an empty purse.
	private static final Set<String> PASSING = Set.of("openrouter_in_flight_budget", "in_flight_budget_exhausted");

	private static final CodeTable CODES = new CodeTable(Map.ofEntries(
			Map.entry("rate_limit_exceeded", FailureKind.RATE_LIMITED),
			Map.entry("provider_overloaded", FailureKind.OVERLOADED),
			Map.entry("capacity_exhausted", FailureKind.OVERLOADED),
			Map.entry("temporarily_unavailable", FailureKind.OVERLOADED),
			Map.entry("context_length_exceeded", FailureKind.TOO_LARGE),
			Map.entry("max_tokens_exceeded", FailureKind.TOO_LARGE),
			Map.entry("token_limit_exceeded", FailureKind.TOO_LARGE),
			Map.entry("string_too_long", FailureKind.TOO_LARGE), Map.entry("payload_too_large", FailureKind.TOO_LARGE),
			Map.entry("authentication", FailureKind.UNAUTHORIZED),
			Map.entry("permission_denied", FailureKind.UNAUTHORIZED),
			Map.entry("provider_unavailable", FailureKind.SERVER_ERROR), Map.entry("server", FailureKind.SERVER_ERROR),
			Map.entry("unmapped", FailureKind.SERVER_ERROR), Map.entry("timeout", FailureKind.TIMEOUT),
			Map.entry("invalid_request", FailureKind.INVALID_REQUEST),
			Map.entry("invalid_prompt", FailureKind.INVALID_REQUEST),
			Map.entry("content_policy_violation", FailureKind.INVALID_REQUEST),
			Map.entry("refusal", FailureKind.INVALID_REQUEST), Map.entry("not_found", FailureKind.INVALID_REQUEST),
			Map.entry("unprocessable", FailureKind.INVALID_REQUEST)));

	// A key's limit and a workspace's budget leave the account's other keys working.
	private static final Set<String> KEY_MONEY = Set.of("openrouter_key_limit", "openrouter_guardrail_budget",
			"openrouter_workspace_budget");

	private static final Set<String> ACCOUNT_MONEY = Set.of("payment_required", "insufficient_credits",
			"openrouter_credits");

	@Override
	public @Nullable FailureKind kind(int status, ErrorBody body) {
		return isPassing(status, body) ? FailureKind.RATE_LIMITED : CODES.kind(status, body);
	}

	@Override
	public @Nullable Quota quota(int status, ErrorBody body) {
		if (isPassing(status, body)) {
			return null;
		}
		if (body.has("weight_exceeds_budget")) {
			// This request costs more than there is; a smaller one may still fit.
			return Quota.UNCODED;
		}
		// The narrower limit counts: a key's may come with the type of the account's.
		String key = body.codeIn(KEY_MONEY);
		if (key != null) {
			return new Quota(key, LatchScope.PROVIDER);
		}
		String account = body.codeIn(ACCOUNT_MONEY);
		if (account != null) {
			return new Quota(account, LatchScope.ACCOUNT);
		}
		// Budgets answer 403 and say when they begin anew.
		return (status == 403 && body.resetAt() != null) ? Quota.UNCODED : null;
	}

	private static boolean isPassing(int status, ErrorBody body) {
		return body.codeIn(PASSING) != null || (status == 402 && Boolean.TRUE.equals(body.retryable()));
	}

	@Override
	public String resetHeader() {
		return "x-ratelimit-reset";
	}

}
