package dev.llmresilience.policy;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * How a provider's calls are retried. Immutable; shared by all calls.
 *
 * @param maxAttempts attempts in all that the transport ladder allows, at least 1;
 * {@code 1} means that nothing is ever retried
 * @param rateLimitRetries retries that the rate-limit ladder allows, at least 0
 * @param rateLimitMaxElapsed if set, the rate-limit ladder is bounded by the time since
 * its first failure instead of by a count
 * @param baseDelay the ceiling of the first backoff on the transport ladder
 * @param rateLimitBaseDelay the ceiling of the first backoff on the rate-limit ladder
 * where the server gave no hint
 * @param maxDelay the largest ceiling
 * @param multiplier growth of the ceiling for each failure on the ladder, at least 1
 * @param jitter how chance shapes a backoff
 * @param jitterFactor the factor of {@link Jitter#PROPORTIONAL}, from 0 to 1
 * @param retryAfterSpread the most that is added by chance to a wait that the server
 * asked for
 * @param maxRetryAfter the longest hint that is waited for; a longer one ends the call
 * @param timeout the time that a whole call may take
 * @param attemptTimeout the time that one attempt may take
 * @param attemptTimeoutMultiplier growth of {@code attemptTimeout} for each retry, at
 * least 1
 */
public record RetryPolicy(int maxAttempts, int rateLimitRetries, @Nullable Duration rateLimitMaxElapsed,
		Duration baseDelay, Duration rateLimitBaseDelay, Duration maxDelay, double multiplier, Jitter jitter,
		double jitterFactor, Duration retryAfterSpread, Duration maxRetryAfter, Duration timeout,
		Duration attemptTimeout, double attemptTimeoutMultiplier) {

	/** The built-in values. */
	public static final RetryPolicy DEFAULTS = new RetryPolicy(4, 5, null, Duration.ofMillis(500),
			Duration.ofSeconds(5), Duration.ofSeconds(30), 2, Jitter.FULL, 0.1, Duration.ofSeconds(1),
			Duration.ofMinutes(2), Duration.ofMinutes(10), Duration.ofMinutes(4), 1);

	/**
	 * Whether anything is ever retried, on either ladder.
	 * @return whether more than one attempt is allowed
	 */
	public boolean retries() {
		return this.maxAttempts > 1;
	}

	/**
	 * Returns a copy with other limits on the number of attempts.
	 * @param maxAttempts attempts in all on the transport ladder
	 * @param rateLimitRetries retries on the rate-limit ladder
	 * @return the copy
	 */
	public RetryPolicy withAttempts(int maxAttempts, int rateLimitRetries) {
		return new RetryPolicy(maxAttempts, rateLimitRetries, this.rateLimitMaxElapsed, this.baseDelay,
				this.rateLimitBaseDelay, this.maxDelay, this.multiplier, this.jitter, this.jitterFactor,
				this.retryAfterSpread, this.maxRetryAfter, this.timeout, this.attemptTimeout,
				this.attemptTimeoutMultiplier);
	}

	/**
	 * Returns a copy with another backoff on both ladders.
	 * @param jitter how chance shapes it
	 * @param baseDelay the ceiling of the first backoff, with or without a hint
	 * @param maxDelay the largest ceiling
	 * @return the copy
	 */
	public RetryPolicy withBackoff(Jitter jitter, Duration baseDelay, Duration maxDelay) {
		return new RetryPolicy(this.maxAttempts, this.rateLimitRetries, this.rateLimitMaxElapsed, baseDelay, baseDelay,
				maxDelay, this.multiplier, jitter, this.jitterFactor, this.retryAfterSpread, this.maxRetryAfter,
				this.timeout, this.attemptTimeout, this.attemptTimeoutMultiplier);
	}

	/**
	 * Returns a copy that treats the server's hints otherwise.
	 * @param retryAfterSpread the most that is added by chance
	 * @param maxRetryAfter the longest hint that is waited for
	 * @return the copy
	 */
	public RetryPolicy withRetryAfter(Duration retryAfterSpread, Duration maxRetryAfter) {
		return new RetryPolicy(this.maxAttempts, this.rateLimitRetries, this.rateLimitMaxElapsed, this.baseDelay,
				this.rateLimitBaseDelay, this.maxDelay, this.multiplier, this.jitter, this.jitterFactor,
				retryAfterSpread, maxRetryAfter, this.timeout, this.attemptTimeout, this.attemptTimeoutMultiplier);
	}

	/**
	 * Returns a copy with other time limits.
	 * @param timeout for the whole call
	 * @param attemptTimeout for one attempt
	 * @return the copy
	 */
	public RetryPolicy withTimeouts(Duration timeout, Duration attemptTimeout) {
		return new RetryPolicy(this.maxAttempts, this.rateLimitRetries, this.rateLimitMaxElapsed, this.baseDelay,
				this.rateLimitBaseDelay, this.maxDelay, this.multiplier, this.jitter, this.jitterFactor,
				this.retryAfterSpread, this.maxRetryAfter, timeout, attemptTimeout, this.attemptTimeoutMultiplier);
	}

	/**
	 * Returns a copy whose rate-limit ladder is bounded by time.
	 * @param rateLimitMaxElapsed the time since the ladder's first failure
	 * @return the copy
	 */
	public RetryPolicy withRateLimitMaxElapsed(Duration rateLimitMaxElapsed) {
		return new RetryPolicy(this.maxAttempts, this.rateLimitRetries, rateLimitMaxElapsed, this.baseDelay,
				this.rateLimitBaseDelay, this.maxDelay, this.multiplier, this.jitter, this.jitterFactor,
				this.retryAfterSpread, this.maxRetryAfter, this.timeout, this.attemptTimeout,
				this.attemptTimeoutMultiplier);
	}

}
