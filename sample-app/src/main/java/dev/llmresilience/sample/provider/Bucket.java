package dev.llmresilience.sample.provider;

import java.time.Duration;

/**
 * A bucket that refills continuously, as the providers' own do. Not thread-safe.
 */
final class Bucket {

	// Refilling adds many small doubles; without this what is due exactly now is missed.
	private static final double ROUNDING = 1e-9;

	private final double capacity;

	private final double perSecond;

	private double held;

	/**
	 * Creates a full bucket.
	 * @param capacity how much it holds
	 * @param perSecond how fast it refills
	 */
	Bucket(double capacity, double perSecond) {
		this.capacity = capacity;
		this.perSecond = perSecond;
		this.held = capacity;
	}

	void refill(double seconds) {
		this.held = Math.min(this.capacity, this.held + seconds * this.perSecond);
	}

	boolean holds(int wanted) {
		return this.held + ROUNDING >= wanted;
	}

	void take(int wanted) {
		this.held = Math.max(0, this.held - wanted);
	}

	Level level(int wanted) {
		return new Level((int) this.capacity, (int) (this.held + ROUNDING), wanted, untilHolds(wanted),
				untilHolds(this.capacity));
	}

	private Duration untilHolds(double wanted) {
		double missing = wanted - this.held;
		if (missing <= ROUNDING) {
			return Duration.ZERO;
		}
		return Duration.ofNanos((long) Math.ceil(missing / this.perSecond * 1e9));
	}

	/**
	 * The state of a bucket at one moment.
	 *
	 * @param limit how much it holds when full
	 * @param remaining how much it holds, in whole pieces
	 * @param wanted how much a request takes
	 * @param untilEnough time until it holds that much
	 * @param untilFull time until it is full
	 */
	record Level(int limit, int remaining, int wanted, Duration untilEnough, Duration untilFull) {
	}

}
