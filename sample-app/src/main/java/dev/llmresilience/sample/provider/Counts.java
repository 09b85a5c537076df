package dev.llmresilience.sample.provider;

import org.jspecify.annotations.Nullable;

/**
 * What arrived at a provider since the counts were last reset. Times are readings of
 * {@link System#nanoTime()}, {@code null} where nothing happened.
 *
 * @param arrived requests that arrived
 * @param answered requests answered with 200
 * @param rejected requests answered with 429
 * @param firstArrival when the first one arrived
 * @param lastArrival when the last one arrived, whether before or after the reset
 * @param lastAnswer when the last 200 was on its way
 */
public record Counts(long arrived, long answered, long rejected, @Nullable Long firstArrival,
		@Nullable Long lastArrival, @Nullable Long lastAnswer) {
}
