package dev.llmresilience.sample.provider;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import dev.llmresilience.sample.provider.Bucket.Level;
import org.jspecify.annotations.Nullable;

/**
 * The buckets of one account: one of requests, and one of tokens where these are limited.
 * A request takes from both or from none.
 */
final class Buckets {

	private static final double SECONDS_PER_MINUTE = 60;

	private final ReentrantLock lock = new ReentrantLock();

	private final LongSupplier nanoTime;

	private Limits limits;

	private Bucket requests;

	private @Nullable Bucket tokens;

	private long updatedAt;

	Buckets(Limits limits, LongSupplier nanoTime) {
		this.limits = limits;
		this.nanoTime = nanoTime;
		this.requests = requests(limits);
		this.tokens = tokens(limits);
		this.updatedAt = nanoTime.getAsLong();
	}

	/**
	 * Takes one request and its tokens if both are there.
	 * @param tokens how many tokens
	 * @return the state after that
	 */
	Reading take(int tokens) {
		this.lock.lock();
		try {
			refill();
			boolean taken = this.requests.holds(1) && (this.tokens == null || this.tokens.holds(tokens));
			if (taken) {
				this.requests.take(1);
				if (this.tokens != null) {
					this.tokens.take(tokens);
				}
			}
			return reading(taken, tokens);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Reads the state without taking anything.
	 * @param tokens how many tokens a request would take
	 * @return the state
	 */
	Reading peek(int tokens) {
		this.lock.lock();
		try {
			refill();
			return reading(false, tokens);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Changes the limits; the buckets are full afterwards.
	 * @param limits the new limits
	 */
	void limits(Limits limits) {
		this.lock.lock();
		try {
			this.limits = limits;
			this.requests = requests(limits);
			this.tokens = tokens(limits);
			this.updatedAt = this.nanoTime.getAsLong();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void refill() {
		long now = this.nanoTime.getAsLong();
		double seconds = (now - this.updatedAt) / 1e9;
		this.requests.refill(seconds);
		if (this.tokens != null) {
			this.tokens.refill(seconds);
		}
		this.updatedAt = now;
	}

	private Reading reading(boolean taken, int tokens) {
		return new Reading(taken, this.limits, this.requests.level(1),
				(this.tokens != null) ? this.tokens.level(tokens) : null);
	}

	private static Bucket requests(Limits limits) {
		return new Bucket(limits.burst(), limits.requestsPerSecond());
	}

	private static @Nullable Bucket tokens(Limits limits) {
		Integer perMinute = limits.tokensPerMinute();
		return (perMinute != null) ? new Bucket(perMinute, perMinute / SECONDS_PER_MINUTE) : null;
	}

	/**
	 * The state of the buckets at one moment.
	 *
	 * @param taken whether the request got what it wanted
	 * @param limits the limits in force
	 * @param requests the bucket of requests
	 * @param tokens the bucket of tokens, {@code null} where they are not limited
	 */
	record Reading(boolean taken, Limits limits, Level requests, @Nullable Level tokens) {

		/**
		 * The bucket of tokens where a request waits for these rather than for its turn.
		 * @return the bucket, or {@code null} where it does not
		 */
		@Nullable Level scarceTokens() {
			return (this.tokens != null && this.tokens.untilEnough().compareTo(this.requests.untilEnough()) > 0)
					? this.tokens : null;
		}

		/**
		 * Whether the request can never be served, however long it waits.
		 */
		boolean isTooLarge() {
			return this.tokens != null && this.tokens.wanted() > this.tokens.limit();
		}

		Duration untilFull() {
			Duration full = this.requests.untilFull();
			return (this.tokens != null && this.tokens.untilFull().compareTo(full) > 0) ? this.tokens.untilFull()
					: full;
		}

		/**
		 * The time until the request is served in whole seconds, rounded up: what goes
		 * into {@code Retry-After}.
		 * @return seconds, at least 1; {@code null} for a request that never is
		 */
		@Nullable Long retryAfterSeconds() {
			if (isTooLarge()) {
				return null;
			}
			Level tokens = scarceTokens();
			Duration wait = ((tokens != null) ? tokens : this.requests).untilEnough();
			return Math.max(1, wait.plusNanos(999_999_999).toSeconds());
		}

	}

}
