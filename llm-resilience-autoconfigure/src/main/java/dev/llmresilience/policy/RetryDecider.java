package dev.llmresilience.policy;

import java.time.Duration;
import java.util.function.DoubleSupplier;

import dev.llmresilience.FailureKind;
import dev.llmresilience.FailureKind.Ladder;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmFailure.Verdict;
import dev.llmresilience.policy.Decision.GiveUp;
import dev.llmresilience.policy.Decision.Retry;
import org.jspecify.annotations.Nullable;

/**
 * The one decision that every driver asks after a failed attempt: retry after d, or give
 * up because r. It reads no clock and draws no number of its own; whether the shared
 * budget can pay is the caller's last step.
 */
public final class RetryDecider {

	private RetryDecider() {
	}

	/**
	 * Decides what to do after a failure that the history already counts.
	 * @param policy the policy
	 * @param history the failures of the call, this one included
	 * @param failure the failure
	 * @param situation what else the decision depends on
	 * @param random draws numbers in {@code [0, 1)}
	 * @return the decision
	 */
	public static Decision decide(RetryPolicy policy, AttemptHistory history, LlmFailure failure, Situation situation,
			DoubleSupplier random) {
		Decision decision = decideWithRetries(policy, history, failure, situation, random);
		return (decision instanceof Retry && !situation.retries())
				? new GiveUp(GiveUpReason.RETRIES_OFF, failure.hint()) : decision;
	}

	private static Decision decideWithRetries(RetryPolicy policy, AttemptHistory history, LlmFailure failure,
			Situation situation, DoubleSupplier random) {
		Ladder ladder = ladder(failure);
		GiveUpReason reason = giveUpReason(policy, history, failure, ladder, situation);
		if (reason != null) {
			return new GiveUp(reason, failure.hint());
		}
		if (hintCannotFit(policy, failure, situation)) {
			return new GiveUp(GiveUpReason.RETRY_AFTER, failure.hint());
		}
		Duration hint = hint(failure);
		if (situation.paced()) {
			return fit(new Retry((hint != null) ? hint.toNanos() : 0, 0, false), failure, situation);
		}
		long backoff = backoff(policy, history, ladder, hint != null, random.getAsDouble());
		long delay = (hint != null) ? Math.max(backoff, hint.toNanos()) + spread(policy, random) : backoff;
		return fit(new Retry(delay, backoff, true), failure, situation);
	}

	/**
	 * The ladder that a failure is charged to, which is that of its kind unless an
	 * explicit word lets a kind be retried that has none.
	 * @param failure the failure
	 * @return the ladder
	 */
	public static Ladder ladder(LlmFailure failure) {
		FailureKind kind = failure.kind();
		boolean hopeless = kind == FailureKind.CANCELLED || kind == FailureKind.QUOTA_EXHAUSTED;
		return (kind.ladder() == Ladder.NONE && failure.verdict() == Verdict.RETRY && !hopeless) ? Ladder.TRANSPORT
				: kind.ladder();
	}

	private static @Nullable GiveUpReason giveUpReason(RetryPolicy policy, AttemptHistory history, LlmFailure failure,
			Ladder ladder, Situation situation) {
		if (failure.kind() == FailureKind.CANCELLED) {
			return GiveUpReason.CANCELLED;
		}
		if (ladder == Ladder.NONE || failure.verdict() == Verdict.NO_RETRY) {
			return GiveUpReason.NOT_RETRYABLE;
		}
		if (situation.sideEffect()) {
			return GiveUpReason.SIDE_EFFECT;
		}
		if (failure.outcomeUnknown() && !situation.idempotent()) {
			return GiveUpReason.OUTCOME_UNKNOWN;
		}
		if (situation.timeLeftNanos() <= 0) {
			return GiveUpReason.DEADLINE;
		}
		if (ladderSpent(policy, history, failure, ladder, situation)) {
			return GiveUpReason.ATTEMPTS;
		}
		return null;
	}

	private static boolean ladderSpent(RetryPolicy policy, AttemptHistory history, LlmFailure failure, Ladder ladder,
			Situation situation) {
		if (!policy.retries() || history.failures() >= situation.maxAttempts()) {
			return true;
		}
		int failures = history.failures(ladder);
		if (failures > failure.maxRetries() && !situation.paced()) {
			return true;
		}
		if (ladder == Ladder.TRANSPORT) {
			return failures >= policy.maxAttempts();
		}
		if (failures >= situation.escalateAfter()) {
			return true;
		}
		Duration maxElapsed = policy.rateLimitMaxElapsed();
		if (maxElapsed != null) {
			return situation.now() - history.firstRateLimit() >= maxElapsed.toNanos();
		}
		return failures > policy.rateLimitRetries();
	}

	private static boolean hintCannotFit(RetryPolicy policy, LlmFailure failure, Situation situation) {
		Duration hint = failure.hint();
		return hint != null && (hint.compareTo(policy.maxRetryAfter()) > 0
				|| hint.compareTo(Duration.ofNanos(situation.timeLeftNanos())) >= 0);
	}

	/** A hint of zero is no floor: the backoff alone decides. */
	private static @Nullable Duration hint(LlmFailure failure) {
		Duration hint = failure.hint();
		return (hint != null && !hint.isZero()) ? hint : null;
	}

	private static long backoff(RetryPolicy policy, AttemptHistory history, Ladder ladder, boolean hinted,
			double random) {
		boolean rateLimitOnly = ladder == Ladder.RATE_LIMIT && !hinted;
		long base = (rateLimitOnly ? policy.rateLimitBaseDelay() : policy.baseDelay()).toNanos();
		long max = policy.maxDelay().toNanos();
		long ceiling = (long) Math.min((double) max,
				base * Math.pow(policy.multiplier(), history.failures(ladder) - 1.0));
		long previous = (history.previousBackoff() > 0) ? history.previousBackoff() : base;
		return policy.jitter().delay(ceiling, base, max, previous, policy.jitterFactor(), random);
	}

	private static long spread(RetryPolicy policy, DoubleSupplier random) {
		return (long) (policy.retryAfterSpread().toNanos() * random.getAsDouble());
	}

	private static Decision fit(Retry retry, LlmFailure failure, Situation situation) {
		return (retry.delayNanos() < situation.timeLeftNanos()) ? retry
				: new GiveUp(GiveUpReason.DEADLINE, failure.hint());
	}

	/**
	 * What a decision depends on besides the failures.
	 *
	 * @param now the monotonic clock, in nanoseconds
	 * @param timeLeftNanos the time left for the whole call, in nanoseconds
	 * @param maxAttempts the most attempts of this call over both ladders
	 * @param idempotent whether the call may run twice
	 * @param sideEffect whether something was done that must not be done twice
	 * @param paced whether a limiter paces the retry, which then needs no backoff, spread
	 * or budget: the queue spreads it, and it is no guess
	 * @param escalateAfter after so many failures on the rate-limit ladder another
	 * provider takes over; {@link Integer#MAX_VALUE} where none does
	 * @param retries whether anything is retried at present; otherwise a failure that
	 * would be is given up, and all others end as ever
	 */
	public record Situation(long now, long timeLeftNanos, int maxAttempts, boolean idempotent, boolean sideEffect,
			boolean paced, int escalateAfter, boolean retries) {
	}

}
