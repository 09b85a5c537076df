package dev.llmresilience.failure;

import java.time.Duration;
import java.util.Map;
import java.util.regex.Pattern;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure.LatchScope;
import org.jspecify.annotations.Nullable;

/**
 * Google's words: the canonical codes of {@code google.rpc.Code}, the Gemini API's
 * troubleshooting page, Vertex AI and the Interactions API.
 * <p>
 * A limit per minute is reported in the same prose as an exhausted account ("You exceeded
 * your current quota, please check your plan and billing details"), so the prose decides
 * nothing: the name of the quota does, and a limit of zero.
 */
final class GoogleRules implements ProviderRules {

	private static final String RESOURCE_EXHAUSTED = "resource_exhausted";

	private static final String QUOTA_EXHAUSTED = "quota_exhausted";

	private static final CodeTable CODES = new CodeTable(Map.ofEntries(
			Map.entry("rate_limit_exceeded", FailureKind.RATE_LIMITED),
			Map.entry("too_many_requests", FailureKind.RATE_LIMITED),
			Map.entry("model_capacity_exhausted", FailureKind.OVERLOADED),
			Map.entry("api_key_invalid", FailureKind.UNAUTHORIZED),
			Map.entry(RESOURCE_EXHAUSTED, FailureKind.RATE_LIMITED), Map.entry("unavailable", FailureKind.OVERLOADED),
			Map.entry("internal", FailureKind.SERVER_ERROR), Map.entry("unknown", FailureKind.SERVER_ERROR),
			Map.entry("data_loss", FailureKind.SERVER_ERROR), Map.entry("deadline_exceeded", FailureKind.TIMEOUT),
			Map.entry("aborted", FailureKind.CONFLICT), Map.entry("cancelled", FailureKind.CANCELLED),
			Map.entry("unauthenticated", FailureKind.UNAUTHORIZED),
			Map.entry("permission_denied", FailureKind.UNAUTHORIZED),
			Map.entry("unimplemented", FailureKind.MISCONFIGURED),
			Map.entry("invalid_argument", FailureKind.INVALID_REQUEST),
			Map.entry("failed_precondition", FailureKind.INVALID_REQUEST),
			Map.entry("out_of_range", FailureKind.INVALID_REQUEST),
			Map.entry("already_exists", FailureKind.INVALID_REQUEST),
			Map.entry("not_found", FailureKind.INVALID_REQUEST)));

	// The Interactions API's quota_exceeded is the daily one.
	private static final Map<String, LatchScope> MONEY = Map.of("quota_exceeded", LatchScope.PROVIDER,
			"billing_disabled", LatchScope.ACCOUNT);

	private static final Pattern MONEY_TEXT = Pattern.compile(
			"^your (?:prepayment|prepaid) credits are (?:depleted|exhausted)",
			Pattern.CASE_INSENSITIVE | Pattern.MULTILINE);

	private static final Pattern ZERO_LIMIT = Pattern.compile(
			"\\bquota exceeded for (?:quota )?metric\\b[^\\n]{0,300}?\\blimit:\\s{0,3}0(?![.,]?\\d)",
			Pattern.CASE_INSENSITIVE);

	// What Google's own command line takes for worth waiting for.
	private static final Duration SOON = Duration.ofMinutes(5);

	@Override
	public @Nullable FailureKind kind(int status, ErrorBody body) {
		return CODES.kind(status, body);
	}

	@Override
	public @Nullable Quota quota(int status, ErrorBody body) {
		String code = body.codeIn(MONEY.keySet());
		if (code != null) {
			return new Quota(code, MONEY.getOrDefault(code, LatchScope.PROVIDER));
		}
		if (status == 402 && body.has(RESOURCE_EXHAUSTED)) {
			return new Quota(RESOURCE_EXHAUSTED, LatchScope.ACCOUNT);
		}
		if (body.has(QUOTA_EXHAUSTED) && !isSoon(body.delay())) {
			return new Quota(QUOTA_EXHAUSTED, LatchScope.PROVIDER);
		}
		if (BodyTexts.isLongQuotaId(body.quotaIds())) {
			// It comes with a delay of seconds all the same, which is not believed.
			return new Quota(null, LatchScope.PROVIDER, false);
		}
		if (body.text().contains("quota exceeded for") && ZERO_LIMIT.matcher(body.text()).find()) {
			return new Quota(null, LatchScope.NONE, false);
		}
		return (body.text().contains("credits are") && MONEY_TEXT.matcher(body.text()).find()) ? Quota.UNCODED : null;
	}

	private static boolean isSoon(@Nullable Duration delay) {
		return delay != null && delay.compareTo(SOON) <= 0;
	}

}
