package dev.llmresilience.limiter;

/**
 * How estimates of tokens have lately turned out: what to multiply them by, how far they
 * are off even then, and what a typical call uses.
 * <p>
 * Changed under the limiter's lock, read without it.
 */
final class TokenScale {

	/** Until calls have settled, estimates count half as high again. */
	private static final double COLD = 1.5;

	/** How many calls it takes to outweigh that. */
	private static final double COLD_CALLS = 4;

	/** What is forgotten of the past with each call. */
	private static final double FORGET = 0.02;

	/** The weight of a call in the averages. */
	private static final double WEIGHT = 0.05;

	/** The error that is expected before any is known, in typical calls. */
	private static final double PRIOR_ERROR = 0.3;

	/** What a call is taken to use where nobody said anything. */
	private static final double TYPICAL = 1000;

	private volatile double unit;

	private double actual;

	private double estimated;

	private volatile double factor = COLD;

	/** The mean square of how far multiplied estimates are off. */
	private volatile double squaredError;

	/** The same for each token of a typical call. */
	private volatile double squaredErrorPerToken;

	/**
	 * Creates a scale that knows nothing yet.
	 * @param defaultTokens what a call is taken to use, zero or less if unknown
	 */
	TokenScale(double defaultTokens) {
		this.unit = (defaultTokens > 0) ? defaultTokens : TYPICAL;
		this.actual = COLD * COLD_CALLS * this.unit;
		this.estimated = COLD_CALLS * this.unit;
		this.squaredError = Math.pow(PRIOR_ERROR * this.unit, 2);
		this.squaredErrorPerToken = this.squaredError / this.unit;
	}

	/** What to multiply estimates by. */
	double factor() {
		return this.factor;
	}

	/**
	 * What has to stay in a bucket because those in flight, and the next call, may use
	 * more than was estimated: twice how far they are off together.
	 * @param inFlight the estimates of those in flight
	 * @return tokens
	 */
	double reserve(long inFlight) {
		return 2 * Math.sqrt(this.squaredError + Math.max(0, inFlight) * this.squaredErrorPerToken);
	}

	/** What a typical call uses. */
	double unit() {
		return this.unit;
	}

	/**
	 * Learns from a call that has ended.
	 * @param estimate what was estimated, zero if nothing was
	 * @param used what it has used
	 */
	void settle(double estimate, double used) {
		double unit = this.unit;
		this.unit = Math.max(1, unit + WEIGHT * (used - unit));
		if (estimate > 0) {
			double error = used - estimate * this.factor;
			double squared = this.squaredError;
			this.squaredError = squared + WEIGHT * (error * error - squared);
			this.squaredErrorPerToken = this.squaredError / this.unit;
			this.actual = this.actual * (1 - FORGET) + used;
			this.estimated = this.estimated * (1 - FORGET) + estimate;
			this.factor = this.actual / this.estimated;
		}
	}

}
