package dev.llmresilience.breaker;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * When a circuit breaker opens, and for how long. Immutable.
 *
 * @param failureThreshold consecutive failures that open it, at least 1
 * @param failureRateThreshold if set, it also opens when this share of the last
 * {@code windowSize} attempts failed, in percent, above 0 and up to 100
 * @param windowSize the number of attempts that the share is taken over, at least 1
 * @param slowCallDuration if set, an attempt that takes longer counts as a failure even
 * if it succeeds
 * @param openDuration how long it stays open at first
 * @param maxOpenDuration what failed trials can double that to
 * @param trialTimeout how long a trial call holds its place without reporting
 */
public record BreakerSettings(int failureThreshold, @Nullable Double failureRateThreshold, int windowSize,
		@Nullable Duration slowCallDuration, Duration openDuration, Duration maxOpenDuration, Duration trialTimeout) {

	/** The built-in values. */
	public static final BreakerSettings DEFAULTS = new BreakerSettings(10, null, 100, null, Duration.ofSeconds(30),
			Duration.ofMinutes(5), Duration.ofMinutes(2));

}
