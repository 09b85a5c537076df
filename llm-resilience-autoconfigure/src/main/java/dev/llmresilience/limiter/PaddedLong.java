package dev.llmresilience.limiter;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A number that many threads change at once. No cache line that holds it holds anything
 * else: the other fields of a bucket are read by every call and change seldom, and would
 * otherwise be fetched anew after each call of another thread. It is extended, not held,
 * which spares each call a reference to follow.
 * <p>
 * Thread-safe and lock-free.
 */
abstract class PaddedLong extends Padding.After {

	/** About a microsecond on x86: some twenty calls of the thread that was faster. */
	private static final int PAUSES = 32;

	/** After so many defeats the while grows no longer. */
	private static final int DEFEATS = 4;

	private static final VarHandle VALUE;

	static {
		try {
			VALUE = MethodHandles.lookup().findVarHandle(Padding.Value.class, "value", long.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	PaddedLong(long value) {
		this.value = value;
	}

	final long get() {
		return this.value;
	}

	/**
	 * Sets it outright, which forgets what others do at that very moment.
	 * @param value the number
	 */
	final void set(long value) {
		this.value = value;
	}

	/**
	 * Changes it if nobody has done so since it was read.
	 * @param seen what was read
	 * @param next what it becomes
	 * @return whether it was changed
	 */
	final boolean compareAndSet(long seen, long next) {
		return VALUE.compareAndSet(this, seen, next);
	}

	final void add(long change) {
		VALUE.getAndAdd(this, change);
	}

	/**
	 * Leaves the number for a while to the thread that has just been faster: two that try
	 * again at once take the cache line from each other at every call. See Dice, Hendler
	 * and Mirsky, Lightweight Contention Management for Efficient Compare-and-Swap
	 * Operations (2013).
	 * @param defeats how often the caller has been slower before this time, each of which
	 * doubles the while
	 */
	static void backOff(int defeats) {
		for (int i = PAUSES << Math.min(defeats, DEFEATS); i > 0; i--) {
			Thread.onSpinWait();
		}
	}

}
