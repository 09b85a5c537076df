package dev.llmresilience.limiter;

import org.jspecify.annotations.Nullable;

/**
 * A limit as it is configured: a rate, and the size of its bucket. Immutable.
 *
 * @param perSecond units a second, above 0
 * @param capacity units that the bucket holds, above 0
 * @param sized whether that size was configured too, and does not just follow the rate
 */
record Limit(double perSecond, double capacity, boolean sized) {

	private static final double SECONDS_PER_MINUTE = 60;

	/**
	 * Reads a limit on calls.
	 * @param settings the limiter's settings
	 * @return the limit of this process, or {@code null} if there is none
	 * @throws IllegalArgumentException if the rate or the burst is out of its range
	 */
	static @Nullable Limit ofRequests(LimiterSettings settings) {
		Double perMinute = settings.requestsPerMinute();
		return (perMinute != null) ? ofRequests(perMinute, settings) : null;
	}

	/**
	 * Makes a limit on calls of another rate.
	 * @param perMinute calls a minute
	 * @param settings the limiter's settings
	 * @return the limit of this process
	 * @throws IllegalArgumentException if the rate or the burst is out of its range
	 */
	static Limit ofRequests(double perMinute, LimiterSettings settings) {
		Integer burst = settings.burst();
		if (!(perMinute > 0) || !Double.isFinite(perMinute) || (burst != null && burst < 1)) {
			throw new IllegalArgumentException(
					"A limiter needs requests-per-minute > 0 and burst >= 1, not " + perMinute + " and " + burst);
		}
		return new Limit(perMinute * settings.share() / SECONDS_PER_MINUTE, calls(perMinute, settings), burst != null);
	}

	/** The calls that the bucket of this process holds. */
	static double calls(double perMinute, LimiterSettings settings) {
		Integer burst = settings.burst();
		double calls = (burst != null) ? burst : perMinute / SECONDS_PER_MINUTE;
		return Math.max(1, Math.floor(calls * settings.share()));
	}

	/**
	 * Reads a limit on tokens, whose bucket holds one minute's worth.
	 * @param perMinute tokens a minute
	 * @param settings the limiter's settings
	 * @return the limit of this process, or {@code null} if there is none
	 * @throws IllegalArgumentException if the number is out of its range
	 */
	static @Nullable Limit ofTokens(@Nullable Double perMinute, LimiterSettings settings) {
		if (perMinute == null) {
			return null;
		}
		if (!(perMinute > 0) || !Double.isFinite(perMinute)) {
			throw new IllegalArgumentException("A limiter needs tokens per minute > 0, not " + perMinute);
		}
		double tokens = perMinute * settings.share();
		return new Limit(tokens / SECONDS_PER_MINUTE, tokens, true);
	}

}
