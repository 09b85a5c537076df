package dev.llmresilience.limiter;

/**
 * Where a rate must lie, in units a second. Immutable.
 *
 * @param low the lower bound
 * @param high the upper bound
 */
record Band(double low, double high) {

	/** Bounds further apart are rough. */
	private static final double ROUGH = 1.5;

	/** Anywhere. */
	static final Band NONE = new Band(0, Double.POSITIVE_INFINITY);

	/**
	 * Between two moments when the bucket was empty, under pressure: accepted = rate *
	 * time, give or take one call.
	 * @param accepted the units
	 * @param unit what a typical call costs
	 * @param seconds the time between
	 * @param paused how much of that nothing was sent, when the bucket may overflow
	 * @param margin how much longer or shorter calls may have taken to arrive, in seconds
	 * @return the bounds
	 */
	static Band measured(double accepted, double unit, double seconds, double paused, double margin) {
		double low = Math.max(0, (accepted - unit) / (seconds + margin));
		double least = Math.max(1e-3, seconds / 4);
		return new Band(low, Math.max(0.5 * unit, accepted + unit) / Math.max(least, seconds - paused - margin));
	}

	boolean isKnown() {
		return this.high != Double.POSITIVE_INFINITY;
	}

	boolean isRough() {
		return this.high >= ROUGH * this.low;
	}

	boolean meets(Band other) {
		return other.isKnown() && this.low <= other.high && other.low <= this.high;
	}

	/**
	 * The common part, or this one alone where they do not meet: the limit has moved.
	 * @param other what was known before
	 * @return the band
	 */
	Band meet(Band other) {
		return meets(other) ? new Band(Math.max(this.low, other.low), Math.min(this.high, other.high)) : this;
	}

	double middle() {
		return (this.low + this.high) / 2;
	}

}
