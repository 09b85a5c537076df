package dev.llmresilience.limiter;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * How a limiter paces calls. Immutable.
 *
 * @param mode how it paces
 * @param requestsPerMinute the rate, above 0, decimals allowed; {@code null} lets every
 * call pass at once
 * @param burst calls that may leave at once after a pause, at least 1; {@code null} for
 * one second's worth of the rate, at least 1
 * @param maxWait the longest that a call waits for its place; {@code null} for the time
 * that the call has left
 * @param maxWaiting the most calls that wait; {@code null} for no limit
 * @param networkMargin how long after the first call of a burst the provider's bucket is
 * taken to begin refilling, unless an answer comes sooner
 */
public record LimiterSettings(LimiterMode mode, @Nullable Double requestsPerMinute, @Nullable Integer burst,
		@Nullable Duration maxWait, @Nullable Integer maxWaiting, Duration networkMargin) {

	/** The built-in values: no rate until one has been learnt. */
	public static final LimiterSettings DEFAULTS = new LimiterSettings(LimiterMode.ADAPTIVE, null, null, null, null,
			Duration.ofMillis(50));

	/**
	 * Returns a copy of another mode.
	 * @param mode how it paces
	 * @return the copy
	 */
	public LimiterSettings withMode(LimiterMode mode) {
		return new LimiterSettings(mode, this.requestsPerMinute, this.burst, this.maxWait, this.maxWaiting,
				this.networkMargin);
	}

	/**
	 * Returns a copy with another rate.
	 * @param requestsPerMinute the rate, or {@code null} for none
	 * @param burst calls that may leave at once, or {@code null} for one second's worth
	 * @return the copy
	 */
	public LimiterSettings withRate(@Nullable Double requestsPerMinute, @Nullable Integer burst) {
		return new LimiterSettings(this.mode, requestsPerMinute, burst, this.maxWait, this.maxWaiting,
				this.networkMargin);
	}

	/**
	 * Returns a copy with other limits on waiting.
	 * @param maxWait the longest wait, or {@code null} for the time left
	 * @param maxWaiting the most calls that wait, or {@code null} for no limit
	 * @return the copy
	 */
	public LimiterSettings withWaiting(@Nullable Duration maxWait, @Nullable Integer maxWaiting) {
		return new LimiterSettings(this.mode, this.requestsPerMinute, this.burst, maxWait, maxWaiting,
				this.networkMargin);
	}

}
