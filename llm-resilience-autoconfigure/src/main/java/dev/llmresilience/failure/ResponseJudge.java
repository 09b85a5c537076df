package dev.llmresilience.failure;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmFailure.Verdict;
import dev.llmresilience.failure.FailureFacts.Response;
import dev.llmresilience.failure.ProviderRules.Quota;
import org.jspecify.annotations.Nullable;

/**
 * Judges an error response: what all providers share, asked once, in the order in which
 * the signs are believed. Cancelled; money, by the body; too large; a long quota;
 * {@code x-should-retry}; the body's own code; the status. The provider's own words come
 * from its {@link ProviderRules}. Stateless.
 */
final class ResponseJudge {

	// What gateways answer for whatever they do not know; the body may state the
	// status that they got.
	private static final Set<Integer> PROXY_STATUSES = Set.of(400, 500, 502);

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
		ErrorBody body = namedByHeader(response);
		int status = response.insideSuccess() ? body.status() : response.status();
		FailureKind meaning = isCertain(status) ? null : rules.kind(status, body);
		FailureKind kind = (meaning != null) ? meaning : byStatus(status, body);
		Verdict verdict = verdict(response);
		Duration hint = Hints.of(response, rules.resetHeader(), now);
		LlmFailure failure = LlmFailure.of(kind).withStatus(response.status()).withCode(cleanCode(body));
		if (kind == FailureKind.CANCELLED) {
			return failure;
		}
		Quota money = rules.quota(status, body);
		if (money == null && kind == FailureKind.QUOTA_EXHAUSTED) {
			money = Quota.UNCODED;
		}
		if (money != null) {
			return exhausted(failure, money, verdict, money.hinted() ? hint : null, now);
		}
		if (kind == FailureKind.TOO_LARGE || BodyTexts.isTooLarge(status, body.text())) {
			return failure.withKind(FailureKind.TOO_LARGE).withVerdict(withoutRetry(verdict));
		}
		LlmFailure judged = failure.withVerdict(verdict).withHint(floor(hint));
		return (kind == FailureKind.RATE_LIMITED) ? rateLimited(judged, body, meaning == null && hint == null, now)
				: judged;
	}

	private static LlmFailure rateLimited(LlmFailure failure, ErrorBody body, boolean bare, Instant now) {
		if (body.quotaIds().isEmpty() && BodyTexts.isLongQuota(body.text())) {
			return exhausted(failure, Quota.UNCODED, failure.verdict(), failure.hint(), now);
		}
		// Could as well be a spend cap that this provider has no words for.
		boolean vague = bare && failure.verdict() != Verdict.RETRY && !BodyTexts.isRateLimit(body.text());
		return vague ? failure.withMaxRetries(1) : failure;
	}

	// AWS names its errors in a header.
	private static ErrorBody namedByHeader(Response response) {
		if (response.insideSuccess()) {
			return response.body();
		}
		List<String> names = response.headers().apply("x-amzn-errortype");
		return names.isEmpty() ? response.body() : response.body().withCode(ErrorFields.awsName(names.get(0)));
	}

	// Whatever a body says, a request of that size is not taken, and nobody waits for
	// an answer any more.
	private static boolean isCertain(int status) {
		return status == 413 || status == 499;
	}

	private static FailureKind byStatus(int status, ErrorBody body) {
		if (status == 0) {
			return FailureKind.SERVER_ERROR;
		}
		if (PROXY_STATUSES.contains(status) && body.status() != 0) {
			FailureKind stated = StatusTable.kind(body.status());
			if (CodeTable.beats(stated, status)) {
				return stated;
			}
		}
		return StatusTable.kind(status);
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
		Boolean retryable = response.body().retryable();
		Verdict ofBody = (retryable == null) ? Verdict.NONE : retryable ? Verdict.RETRY : Verdict.NO_RETRY;
		// Headers that were sent before the error happened cannot be about it.
		if (response.insideSuccess()) {
			return ofBody;
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
		return ofBody;
	}

	private static Verdict withoutRetry(Verdict verdict) {
		return (verdict == Verdict.RETRY) ? Verdict.NONE : verdict;
	}

	private static @Nullable Duration floor(@Nullable Duration hint) {
		return (hint == null || hint.isZero()) ? null : hint;
	}

	private static @Nullable String cleanCode(ErrorBody body) {
		return body.codes().stream().filter(LlmFailure::isCode).findFirst().orElse(null);
	}

}
