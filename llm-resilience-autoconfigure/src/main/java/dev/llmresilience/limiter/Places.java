package dev.llmresilience.limiter;

import org.jspecify.annotations.Nullable;

/**
 * The calls in flight, and how many there may be. How many there are is the number that
 * this class {@linkplain PaddedLong extends}. Lock-free. Invariant: a permit whose
 * {@code place} is set counts exactly once, and never more are let in than there are
 * places.
 */
final class Places extends PaddedLong {

	private volatile int most;

	/**
	 * Creates the places.
	 * @param most how many there are, or {@code null} for no limit
	 */
	Places(@Nullable Integer most) {
		super(0);
		this.most = checked(most);
	}

	private static int checked(@Nullable Integer most) {
		if (most != null && most < 1) {
			throw new IllegalArgumentException("A limiter needs max-concurrent-calls >= 1, not " + most);
		}
		return (most != null) ? most : Integer.MAX_VALUE;
	}

	/**
	 * Changes how many places there are. Those that are taken stay so.
	 * @param most how many, or {@code null} for no limit
	 */
	void configure(@Nullable Integer most) {
		this.most = checked(most);
	}

	boolean areLimited() {
		return this.most != Integer.MAX_VALUE;
	}

	boolean take(Permit permit) {
		int most = this.most;
		if (most == Integer.MAX_VALUE || permit.hasPlace()) {
			return true;
		}
		int defeats = 0;
		long taken = get();
		while (taken < most) {
			if (compareAndSet(taken, taken + 1)) {
				permit.place = true;
				return true;
			}
			backOff(defeats++);
			most = this.most;
			taken = get();
		}
		return false;
	}

	/**
	 * Gives a place back.
	 * @param permit the permit
	 * @return whether it had one of its own
	 */
	boolean giveBack(Permit permit) {
		if (!permit.place) {
			return false;
		}
		permit.place = false;
		add(-1);
		return true;
	}

	boolean areFull() {
		return get() >= this.most;
	}

	int taken() {
		return (int) get();
	}

}
