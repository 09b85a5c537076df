package dev.llmresilience.limiter;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What a limiter looked like at one moment. Immutable.
 *
 * @param configuredRequestsPerMinute the rate of calls that was configured, or set since,
 * for all processes together; {@code null} for none
 * @param limits the limits that hold at present, that on calls first; empty while every
 * call passes
 * @param waiting how many calls wait
 * @param inFlight how many calls are under way, or {@code null} where nobody counts them
 */
public record LimiterSnapshot(@Nullable Double configuredRequestsPerMinute, List<LimitSnapshot> limits, int waiting,
		@Nullable Long inFlight) {
}
