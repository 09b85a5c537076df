package dev.llmresilience.limiter;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A bucket of slots that refills continuously, kept as the moment at which it will be
 * full again, the way of the generic cell rate algorithm (ITU-T I.371): a call moves that
 * moment by one interval, and may leave if it then lies no further ahead than the whole
 * capacity.
 * <p>
 * The refill clock follows the provider's. Until the first call of a burst arrives there,
 * the provider's bucket is full and does not refill, so neither does this one: from when
 * a call leaves a full bucket, its clock stands still until the network margin is over or
 * an answer has come, whichever is first. Without this, one or two of a burst are
 * rejected.
 * <p>
 * Thread-safe and lock-free; all moments are nanoseconds of the monotonic clock.
 * Invariant: {@code fullAt} is only changed by compare-and-set, and never for a call that
 * would take it further than {@code capacity} ahead of the refill clock.
 */
final class Bucket {

	private static final VarHandle FULL_AT;

	private static final VarHandle REFILLS_FROM;

	static {
		try {
			FULL_AT = MethodHandles.lookup().findVarHandle(Bucket.class, "fullAt", long.class);
			REFILLS_FROM = MethodHandles.lookup().findVarHandle(Bucket.class, "refillsFrom", long.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private final long interval;

	private final long capacity;

	private final long margin;

	private volatile long fullAt;

	/** Up to this moment the refill clock stands still at it. */
	private volatile long refillsFrom;

	/**
	 * Creates a full bucket.
	 * @param interval nanoseconds between two paced calls, above 0
	 * @param calls the calls that it holds, at least 1
	 * @param margin the network margin, in nanoseconds
	 * @param now the clock
	 */
	Bucket(long interval, double calls, long margin, long now) {
		this.interval = interval;
		this.capacity = (long) Math.min(Long.MAX_VALUE / 4.0, interval * calls);
		this.margin = margin;
		this.fullAt = now;
		this.refillsFrom = now;
	}

	/**
	 * Takes a slot for a call that has just come.
	 * @param now the clock
	 * @return whether one was free
	 */
	boolean take(long now) {
		while (true) {
			long seen = this.fullAt;
			long clock = refillClock(now);
			boolean full = seen - clock <= 0;
			if (full) {
				// A burst begins. Callers that see a full bucket at the same moment write
				// the same, give or take nanoseconds.
				clock = now + this.margin;
				REFILLS_FROM.setOpaque(this, clock);
			}
			long next = (full ? clock : seen) + this.interval;
			if (next - clock > this.capacity) {
				return false;
			}
			if (FULL_AT.compareAndSet(this, seen, next)) {
				return true;
			}
		}
	}

	/**
	 * Takes a slot for a call that has waited for it. A bucket that is full then is so
	 * only because its turn was noticed a little late, so that no burst begins and the
	 * lateness does not add up.
	 * @param now the clock
	 * @return whether one was free
	 */
	boolean takeWaited(long now) {
		while (true) {
			long seen = this.fullAt;
			long next = seen + this.interval;
			if (next - refillClock(now) > this.capacity) {
				return false;
			}
			if (FULL_AT.compareAndSet(this, seen, next)) {
				return true;
			}
		}
	}

	private long refillClock(long now) {
		long from = this.refillsFrom;
		return (from - now > 0) ? from : now;
	}

	/**
	 * When a slot is free for a call that has others before it.
	 * @param ahead how many are before it
	 * @param now the clock
	 * @return the moment; now, if it is free already
	 */
	long freeAt(int ahead, long now) {
		long due = this.fullAt + this.interval * (ahead + 1L) - this.capacity;
		return (due - refillClock(now) <= 0) ? now : due;
	}

	/**
	 * Puts back a slot that was not used. A bucket that is full by then stays so.
	 * @param now the clock
	 * @param pausedUntil the moment before which none may be free again; no later than
	 * now where there is no pause
	 */
	void giveBack(long now, long pausedUntil) {
		long least = pausedUntil + this.capacity - this.interval;
		while (true) {
			long seen = this.fullAt;
			long next = seen - this.interval;
			if (pausedUntil - now > 0 && least - next > 0) {
				next = (least - seen > 0) ? seen : least;
			}
			if (FULL_AT.compareAndSet(this, seen, next)) {
				return;
			}
		}
	}

	/**
	 * Lets nothing out until a moment, then one, then the others at the rate.
	 * @param until the moment
	 */
	void pause(long until) {
		long least = until + this.capacity - this.interval;
		while (true) {
			long seen = this.fullAt;
			if (least - seen <= 0 || FULL_AT.compareAndSet(this, seen, least)) {
				return;
			}
		}
	}

	/**
	 * Lets the refill clock run from now on, if it stands still for a burst that a call
	 * belongs to.
	 * @param sent when the call left
	 * @param now the clock
	 * @return whether slots are free sooner than before
	 */
	boolean answered(long sent, long now) {
		long from = this.refillsFrom;
		long early = from - now;
		if (early <= 0 || sent - (from - this.margin) < 0) {
			return false;
		}
		if (!REFILLS_FROM.compareAndSet(this, from, now)) {
			return false;
		}
		long seen = this.fullAt;
		while (!FULL_AT.compareAndSet(this, seen, seen - early)) {
			seen = this.fullAt;
		}
		return true;
	}

	/**
	 * The slots that are free.
	 * @param now the clock
	 * @return the number, with its fraction
	 */
	double level(long now) {
		long ahead = Math.max(0, this.fullAt - refillClock(now));
		return Math.max(0, (double) (this.capacity - ahead) / this.interval);
	}

}
