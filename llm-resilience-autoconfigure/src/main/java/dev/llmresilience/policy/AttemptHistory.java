package dev.llmresilience.policy;

import dev.llmresilience.FailureKind.Ladder;

/**
 * What the decision has to know of the failures that a call has met so far. Belongs to
 * one call; not thread-safe.
 */
public final class AttemptHistory {

	private int failures;

	private int transport;

	private int rateLimit;

	private long firstRateLimit;

	private long previousBackoff;

	/**
	 * Records a failed attempt, before it is decided upon.
	 * @param ladder the ladder that the failure is charged to
	 * @param now the monotonic clock, in nanoseconds
	 */
	public void failed(Ladder ladder, long now) {
		this.failures++;
		if (ladder == Ladder.TRANSPORT) {
			this.transport++;
		}
		else if (ladder == Ladder.RATE_LIMIT) {
			if (this.rateLimit++ == 0) {
				this.firstRateLimit = now;
			}
		}
	}

	/**
	 * All failed attempts.
	 * @return the number
	 */
	public int failures() {
		return this.failures;
	}

	/**
	 * The failed attempts on one ladder.
	 * @param ladder the ladder
	 * @return the number
	 */
	public int failures(Ladder ladder) {
		return switch (ladder) {
			case NONE -> 0;
			case TRANSPORT -> this.transport;
			case RATE_LIMIT -> this.rateLimit;
		};
	}

	/**
	 * When the first failure on the rate-limit ladder was recorded.
	 * @return the monotonic clock, in nanoseconds; meaningless if there was none
	 */
	long firstRateLimit() {
		return this.firstRateLimit;
	}

	/**
	 * The last backoff that was drawn.
	 * @return nanoseconds, {@code 0} if none was
	 */
	long previousBackoff() {
		return this.previousBackoff;
	}

	/**
	 * Records a retry that was decided upon.
	 * @param retry the decision
	 */
	public void retrying(Decision.Retry retry) {
		if (retry.backoffNanos() > 0) {
			this.previousBackoff = retry.backoffNanos();
		}
	}

}
