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
