package dev.llmresilience.sample.provider;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * A token bucket that refills continuously, as the providers' own do: one request takes
 * one token, and a token is back after {@code 1 / requestsPerSecond}.
 */
final class TokenBucket {

	// Refilling adds many small doubles; without this a token due exactly now is missed.
	private static final double ROUNDING = 1e-9;

	private final ReentrantLock lock = new ReentrantLock();

	private final LongSupplier nanoTime;

	private Limits limits;

	private double tokens;

	private long updatedAt;

	TokenBucket(Limits limits, LongSupplier nanoTime) {
		this.limits = limits;
		this.nanoTime = nanoTime;
		this.tokens = limits.burst();
		this.updatedAt = nanoTime.getAsLong();
	}

	/**
	 * Takes a token if there is one.
	 * @return the state after that
	 */
	Reading take() {
		this.lock.lock();
		try {
			refill();
			boolean taken = this.tokens + ROUNDING >= 1;
			if (taken) {
				this.tokens = Math.max(0, this.tokens - 1);
			}
			return reading(taken);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Reads the state without taking anything.
	 * @return the state
	 */
	Reading peek() {
		this.lock.lock();
		try {
			refill();
			return reading(false);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Changes the limits; the bucket is full afterwards.
	 * @param limits the new limits
	 */
	void limits(Limits limits) {
		this.lock.lock();
		try {
			this.limits = limits;
			this.tokens = limits.burst();
			this.updatedAt = this.nanoTime.getAsLong();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void refill() {
		long now = this.nanoTime.getAsLong();
		double due = (now - this.updatedAt) / 1e9 * this.limits.requestsPerSecond();
		this.tokens = Math.min(this.limits.burst(), this.tokens + due);
		this.updatedAt = now;
	}

	private Reading reading(boolean taken) {
		return new Reading(taken, this.limits, (int) (this.tokens + ROUNDING), untilHolds(1),
				untilHolds(this.limits.burst()));
	}

	private Duration untilHolds(double wanted) {
		double missing = wanted - this.tokens;
		if (missing <= ROUNDING) {
			return Duration.ZERO;
		}
		return Duration.ofNanos((long) Math.ceil(missing / this.limits.requestsPerSecond() * 1e9));
	}

	/**
	 * The state of the bucket at one moment.
	 *
	 * @param taken whether the request got its token
	 * @param limits the limits in force
	 * @param remaining whole tokens left
	 * @param untilNext time until there is a token
	 * @param untilFull time until the bucket is full again
	 */
	record Reading(boolean taken, Limits limits, int remaining, Duration untilNext, Duration untilFull) {

		int limit() {
			return this.limits.burst();
		}

		/**
		 * The time to the next token in whole seconds, rounded up: what goes into
		 * {@code Retry-After}.
		 * @return seconds, at least 1
		 */
		long retryAfterSeconds() {
			return Math.max(1, ceilSeconds(this.untilNext));
		}

		private static long ceilSeconds(Duration duration) {
			return duration.plusNanos(999_999_999).toSeconds();
		}

	}

}
