package dev.llmresilience;

import java.time.Duration;

/**
 * What a provider said, with a response, about one of its limits at that moment.
 * Immutable.
 *
 * @param dimension what is limited
 * @param limit the most that can be used at once, which is the size of the provider's
 * bucket or window, above 0
 * @param remaining what was left, from 0 to {@code limit}, rounded down by the provider
 * @param reset the time after which nothing would be used any more, from when the
 * response was sent, rounded up by the provider; never negative
 * @param resolution the unit to which the provider rounds {@code reset}, such as a second
 */
public record RateLimitSnapshot(Dimension dimension, double limit, double remaining, Duration reset,
		Duration resolution) {

	/**
	 * Creates a snapshot.
	 * @throws IllegalArgumentException if a number is out of its range
	 */
	public RateLimitSnapshot {
		if (!(limit > 0) || !(remaining >= 0) || !(remaining <= limit) || reset.isNegative()
				|| resolution.isNegative()) {
			throw new IllegalArgumentException("Not a state of a limit: " + limit + ", " + remaining + ", " + reset);
		}
	}

	/**
	 * What a provider limits.
	 */
	public enum Dimension {

		/** Calls. */
		REQUESTS,

		/** Tokens of requests and answers together. */
		TOKENS,

		/** Tokens of requests. */
		INPUT_TOKENS,

		/** Tokens of answers. */
		OUTPUT_TOKENS

	}

}
