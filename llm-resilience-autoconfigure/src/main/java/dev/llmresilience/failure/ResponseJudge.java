package dev.llmresilience.failure;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Set;

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

	// Other words of bodies are too broad to beat a status: invalid_request_error comes
	// with a 401, too.
	private static final Set<FailureKind> BEATS_STATUS = Set.of(FailureKind.RATE_LIMITED, FailureKind.OVERLOADED,
			FailureKind.TOO_LARGE);

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
		LlmFailure judged = failure.withVerdict(verdict).withHint(floor(hint));
		return (kind == FailureKind.RATE_LIMITED) ? rateLimited(judged, body, meaning == null && hint == null, now)
				: judged;
	}

	private static LlmFailure rateLimited(LlmFailure failure, ErrorBody body, boolean bare, Instant now) {
		if (BodyTexts.isLongQuotaId(body.quotaIds())) {
			// Google adds a delay of seconds to a daily quota: it is not believed.
			return exhausted(failure, new Quota(null, LatchScope.PROVIDER), failure.verdict(), null, now);
		}
		if (body.quotaIds().isEmpty() && BodyTexts.isLongQuota(body.text())) {
			return exhausted(failure, Quota.UNCODED, failure.verdict(), failure.hint(), now);
		}
		// Could as well be a spend cap that this provider has no words for.
		boolean vague = bare && failure.verdict() != Verdict.RETRY && !BodyTexts.isRateLimit(body.text());
		return vague ? failure.withMaxRetries(1) : failure;
	}

	private static FailureKind kind(int status, @Nullable FailureKind meaning) {
		if (status == 0) {
			return (meaning != null) ? meaning : FailureKind.SERVER_ERROR;
		}
		FailureKind byStatus = StatusTable.kind(status);
		boolean certain = byStatus == FailureKind.CANCELLED || byStatus == FailureKind.TOO_LARGE;
		return (meaning != null && !certain && BEATS_STATUS.contains(meaning)) ? meaning : byStatus;
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
