package dev.llmresilience.breaker;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

import dev.llmresilience.time.TimeSource;

/**
 * Shows moments of the monotonic clock on the wall clock.
 */
final class Instants {

	private static final long ALMOST_A_MILLI = 999_999;

	private Instants() {
	}

	/**
	 * Shows a moment, in whole milliseconds and never earlier than it is.
	 * @param time both clocks
	 * @param nanoTime the moment, on the monotonic clock
	 * @return the instant
	 */
	static Instant later(TimeSource time, long nanoTime) {
		return time.now().plusNanos(nanoTime - time.nanoTime() + ALMOST_A_MILLI).truncatedTo(ChronoUnit.MILLIS);
	}

}
