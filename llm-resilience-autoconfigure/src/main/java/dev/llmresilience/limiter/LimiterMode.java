package dev.llmresilience.limiter;

/**
 * How a limiter paces calls.
 */
public enum LimiterMode {

	/**
	 * At a rate that it learns from the provider's rejections. A configured rate is where
	 * it starts, and its ceiling; without one every call passes until the first
	 * rejection.
	 */
	ADAPTIVE,

	/** At the configured rate, where one is configured. A rejection pauses it. */
	FIXED,

	/** Not at all. */
	OFF

}
