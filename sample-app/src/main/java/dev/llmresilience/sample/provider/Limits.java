package dev.llmresilience.sample.provider;

import org.jspecify.annotations.Nullable;

/**
 * How much an account of the embedded provider may ask for, and how long an answer takes.
 *
 * @param requestsPerSecond how fast the bucket of requests refills; decimals are allowed
 * @param burst how many requests the bucket holds
 * @param latencyMillis how long the model takes to answer, 5 milliseconds when left out
 * @param tokensPerMinute how many tokens of prompts and answers there are in a minute,
 * which the bucket of tokens holds when full; not limited when left out
 */
public record Limits(double requestsPerSecond, int burst, @Nullable Integer latencyMillis,
		@Nullable Integer tokensPerMinute) {

	private static final int DEFAULT_LATENCY_MILLIS = 5;

	/**
	 * Checks the values.
	 */
	public Limits {
		// Written so that NaN fails too.
		if (!(requestsPerSecond > 0 && requestsPerSecond <= 100_000)) {
			throw new IllegalArgumentException(
					"requestsPerSecond must be more than 0 and at most 100000, but was " + requestsPerSecond);
		}
		if (burst < 1 || burst > 1_000_000) {
			throw new IllegalArgumentException("burst must be between 1 and 1000000, but was " + burst);
		}
		if (latencyMillis != null && (latencyMillis < 0 || latencyMillis > 600_000)) {
			throw new IllegalArgumentException("latencyMillis must be between 0 and 600000, but was " + latencyMillis);
		}
		if (tokensPerMinute != null && tokensPerMinute < 1) {
			throw new IllegalArgumentException("tokensPerMinute must be at least 1, but was " + tokensPerMinute);
		}
	}

	/**
	 * Creates limits on requests only, with the default latency.
	 * @param requestsPerSecond how fast the bucket of requests refills
	 * @param burst how many requests the bucket holds
	 */
	public Limits(double requestsPerSecond, int burst) {
		this(requestsPerSecond, burst, null, null);
	}

	/**
	 * The latency with its default filled in.
	 * @return milliseconds
	 */
	long latency() {
		return (this.latencyMillis != null) ? this.latencyMillis : DEFAULT_LATENCY_MILLIS;
	}

	/**
	 * The soonest that calls which all arrive at once can be through: the first
	 * {@code burst} of them at once, or as many as there are tokens for, the others one
	 * by one.
	 * @param calls how many calls
	 * @param tokens how many tokens each of them takes
	 * @return seconds
	 */
	public double floorSeconds(int calls, int tokens) {
		double ofRequests = Math.max(0, (calls - this.burst) / this.requestsPerSecond);
		if (this.tokensPerMinute == null) {
			return ofRequests;
		}
		double missing = (double) calls * tokens - this.tokensPerMinute;
		return Math.max(ofRequests, missing * 60 / this.tokensPerMinute);
	}

	/**
	 * How long an empty bucket of requests takes to be full again.
	 * @return seconds
	 */
	public double refillSeconds() {
		return this.burst / this.requestsPerSecond;
	}

}
