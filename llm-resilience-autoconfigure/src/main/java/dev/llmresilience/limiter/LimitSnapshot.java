package dev.llmresilience.limiter;

import java.time.Instant;

import dev.llmresilience.RateLimitSnapshot.Dimension;
import org.jspecify.annotations.Nullable;

/**
 * What one limit looked like at one moment. Immutable.
 *
 * @param dimension what is limited: calls, or tokens of a kind
 * @param perMinute the rate of this process, in units a minute
 * @param origin where that rate comes from
 * @param capacity the units that may be used at once after a pause
 * @param level the units that could be used at once right now
 * @param pausedUntil when the next call may leave after a rejection, or {@code null}
 * while nothing holds all of them back
 */
public record LimitSnapshot(Dimension dimension, double perMinute, Origin origin, double capacity, double level,
		@Nullable Instant pausedUntil) {

	/**
	 * Where a rate comes from.
	 */
	public enum Origin {

		/** It is the configured one, or the one that was set since. */
		CONFIGURED,

		/** The provider's responses say so. */
		ANNOUNCED,

		/** The provider's rejections have shown it. */
		LEARNT

	}

}
