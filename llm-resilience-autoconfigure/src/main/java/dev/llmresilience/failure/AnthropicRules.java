package dev.llmresilience.failure;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure.LatchScope;
import org.jspecify.annotations.Nullable;

/**
 * Anthropic's words, as its errors page and its rate-limits page have them. A spend cap
 * has the type of a rate limit: only {@code error.details.error_code} tells them apart.
 */
final class AnthropicRules implements ProviderRules {

	private static final CodeTable CODES = new CodeTable(Map.ofEntries(
			Map.entry("ramp_limit_exceeded", FailureKind.RATE_LIMITED),
			Map.entry("rate_limit_error", FailureKind.RATE_LIMITED),
			Map.entry("overloaded_error", FailureKind.OVERLOADED), Map.entry("api_error", FailureKind.SERVER_ERROR),
			Map.entry("timeout_error", FailureKind.TIMEOUT), Map.entry("conflict_error", FailureKind.CONFLICT),
			Map.entry("request_body_too_large_after_decoding", FailureKind.TOO_LARGE),
			Map.entry("request_too_large", FailureKind.TOO_LARGE),
			Map.entry("authentication_error", FailureKind.UNAUTHORIZED),
			Map.entry("permission_error", FailureKind.UNAUTHORIZED),
			Map.entry("invalid_request_error", FailureKind.INVALID_REQUEST),
			Map.entry("not_found_error", FailureKind.INVALID_REQUEST)));

	private static final Set<String> MONEY = Set.of("enforced_spend_limit_reached", "contract_spend_limit_reached",
			"linked_organization_spend_limit_reached", "linked_organization_billing_unavailable", "billing_error");

	// The limits that customers set on themselves, the prepaid balance and the
	// entitlement to long contexts come without a code.
	private static final Pattern MONEY_TEXT = Pattern.compile(
			"^(?:you have reached your (?:specified )?(?:workspace )?api usage limits"
					+ "|your credit balance is too low|extra usage is required for long context requests)",
			Pattern.CASE_INSENSITIVE | Pattern.MULTILINE);

	private static final List<String> MONEY_WORDS = List.of("api usage limits", "credit balance", "extra usage");

	@Override
	public @Nullable FailureKind kind(int status, ErrorBody body) {
		return CODES.kind(status, body);
	}

	@Override
	public @Nullable Quota quota(int status, ErrorBody body) {
		String code = body.codeIn(MONEY);
		if (code != null) {
			return new Quota(code, LatchScope.ACCOUNT);
		}
		return (BodyTexts.containsAny(body.text(), MONEY_WORDS) && MONEY_TEXT.matcher(body.text()).find())
				? Quota.UNCODED : null;
	}

}
