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

	/** How much of a typical call a token is. */
	private volatile double callsPerToken;

	private double actual;

	private double estimated;

	private volatile double factor = COLD;

	/** How far multiplied estimates are off: the root of the mean square. */
	private volatile double error;

	/**
	 * Creates a scale that knows nothing yet.
	 * @param defaultTokens what a call is taken to use, zero or less if unknown
	 */
	TokenScale(double defaultTokens) {
		double unit = (defaultTokens > 0) ? defaultTokens : TYPICAL;
		this.unit = unit;
		this.callsPerToken = 1 / unit;
		this.actual = COLD * COLD_CALLS * unit;
		this.estimated = COLD_CALLS * unit;
		this.error = PRIOR_ERROR * unit;
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
		return 2 * this.error * Math.sqrt(1 + Math.max(0, inFlight) * this.callsPerToken);
	}

	/**
	 * The same or more, without the root: a bucket that holds so much need not be asked
	 * for less.
	 * @param inFlight the estimates of those in flight
	 * @return tokens
	 */
	double reserveAtMost(long inFlight) {
		return this.error * (2 + Math.max(0, inFlight) * this.callsPerToken);
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
		unit = Math.max(1, unit + WEIGHT * (used - unit));
		this.unit = unit;
		this.callsPerToken = 1 / unit;
		if (estimate > 0) {
			double off = used - estimate * this.factor;
			double squared = this.error * this.error;
			this.error = Math.sqrt(squared + WEIGHT * (off * off - squared));
			this.actual = this.actual * (1 - FORGET) + used;
			this.estimated = this.estimated * (1 - FORGET) + estimate;
			this.factor = this.actual / this.estimated;
		}
	}

}
