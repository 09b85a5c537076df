package dev.llmresilience.failure;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmFailure.LatchScope;
import dev.llmresilience.LlmFailure.Verdict;
import dev.llmresilience.failure.FailureFacts.Response;
import dev.llmresilience.failure.ProviderRules.Quota;
import org.jspecify.annotations.Nullable;

/**
 * Judges an error response: what all providers share, asked once, in the order in which
 * the signs are believed. Cancelled; money, by the body; too large; a long quota;
 * {@code x-should-retry}; the status. The provider's own words come from its
 * {@link ProviderRules}. Stateless.
 */
final class ResponseJudge {

	private ResponseJudge() {
	}

	/**
	 * Judges a response.
	 * @param response what was read of it
	 * @param rules the provider's own words
	 * @param now the wall clock
	 * @return the failure
	 */
	static LlmFailure judge(Response response, ProviderRules rules, Instant now) {
		ErrorBody body = response.body();
		int status = response.insideSuccess() ? body.status() : response.status();
		FailureKind meaning = rules.kind(body);
		FailureKind kind = kind(status, meaning);
		Verdict verdict = verdict(response);
		Duration hint = Hints.of(response, now);
		LlmFailure failure = LlmFailure.of(kind).withStatus(response.status()).withCode(cleanCode(body));
		if (kind == FailureKind.CANCELLED) {
			return failure;
		}
		Quota money = rules.quota(body);
		if (money == null && kind == FailureKind.QUOTA_EXHAUSTED) {
			money = Quota.UNCODED;
		}
		if (money != null) {
			return exhausted(failure, money, verdict, hint, now);
		}
		if (kind == FailureKind.TOO_LARGE || BodyTexts.isTooLarge(status, body.text())) {
			return failure.withKind(FailureKind.TOO_LARGE).withVerdict(withoutRetry(verdict));
		}
		Quota longQuota = (kind == FailureKind.RATE_LIMITED) ? longQuota(body) : null;
		if (longQuota != null) {
			return exhausted(failure, longQuota, verdict, hint, now);
		}
		boolean vague = kind == FailureKind.RATE_LIMITED && hint == null && verdict != Verdict.RETRY && meaning == null
				&& !BodyTexts.isRateLimit(body.text());
		return failure.withVerdict(verdict).withHint(floor(hint)).withMaxRetries(vague ? 1 : failure.maxRetries());
	}

	// The body's word beats the status where it tells of a passing limit; elsewhere the
	// types are too broad for that (invalid_request_error comes with a 401, too).
	private static FailureKind kind(int status, @Nullable FailureKind meaning) {
		if (status == 0) {
			return (meaning != null) ? meaning : FailureKind.SERVER_ERROR;
		}
		boolean beatsStatus = meaning == FailureKind.RATE_LIMITED || meaning == FailureKind.OVERLOADED
				|| meaning == FailureKind.TOO_LARGE;
		FailureKind byStatus = StatusTable.kind(status);
		return (meaning != null && beatsStatus && byStatus != FailureKind.CANCELLED
				&& byStatus != FailureKind.TOO_LARGE) ? meaning : byStatus;
	}

	private static LlmFailure exhausted(LlmFailure failure, Quota quota, Verdict verdict, @Nullable Duration hint,
			Instant now) {
		Duration floor = floor(hint);
		return failure.withKind(FailureKind.QUOTA_EXHAUSTED)
			.withCode((quota.code() != null) ? quota.code() : failure.code())
			.withVerdict(withoutRetry(verdict))
			.withHint(floor)
			.withLatch(quota.latch(), (floor != null) ? now.plus(floor) : null);
	}

	private static @Nullable Quota longQuota(ErrorBody body) {
		if (!body.quotaIds().isEmpty()) {
			return BodyTexts.isLongQuotaId(body.quotaIds()) ? new Quota(null, LatchScope.PROVIDER) : null;
		}
		return BodyTexts.isLongQuota(body.text()) ? Quota.UNCODED : null;
	}

	private static Verdict verdict(Response response) {
		// Headers that were sent before the error happened cannot be about it.
		if (response.insideSuccess()) {
			return Verdict.NONE;
		}
		for (String value : response.headers().apply("x-should-retry")) {
			String word = value.strip().toLowerCase(Locale.ROOT);
			if (word.equals("true")) {
				return Verdict.RETRY;
			}
			if (word.equals("false")) {
				return Verdict.NO_RETRY;
			}
		}
		return Verdict.NONE;
	}

	private static Verdict withoutRetry(Verdict verdict) {
		return (verdict == Verdict.RETRY) ? Verdict.NONE : verdict;
	}

	private static @Nullable Duration floor(@Nullable Duration hint) {
		return (hint == null || hint.isZero()) ? null : hint;
	}

	private static @Nullable String cleanCode(ErrorBody body) {
		return body.codes().stream().filter(BodyTexts::isCleanCode).findFirst().orElse(null);
	}

}
