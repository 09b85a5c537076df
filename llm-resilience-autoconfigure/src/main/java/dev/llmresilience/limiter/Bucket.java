package dev.llmresilience.limiter;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

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
 * would take it further than {@code capacity} ahead of the refill clock. Only
 * {@link #restartAt} sets it outright, which forgets calls that take a slot at that very
 * moment.
 */
final class Bucket {

	private static final double SECONDS_PER_MINUTE = 60;

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

	private final long margin;

	private volatile Shape shape;

	private volatile long fullAt;

	/** Up to this moment the refill clock stands still at it. */
	private volatile long refillsFrom;

	/**
	 * The interval of a rate.
	 * @param perSecond calls a second, above 0
	 * @return nanoseconds between two calls, rounded up
	 */
	static long interval(double perSecond) {
		return (long) Math.ceil(1e9 / perSecond);
	}

	/**
	 * The full bucket of a configured rate.
	 * @param settings the limiter's settings
	 * @param now the clock
	 * @return the bucket, or {@code null} without a rate
	 * @throws IllegalArgumentException if the rate or the burst is out of its range
	 */
	static @Nullable Bucket of(LimiterSettings settings, long now) {
		Double perMinute = settings.requestsPerMinute();
		if (perMinute == null || settings.mode() == LimiterMode.OFF) {
			return null;
		}
		Integer burst = settings.burst();
		double calls = (burst != null) ? burst : Math.max(1, Math.floor(perMinute / SECONDS_PER_MINUTE));
		if (!(perMinute > 0) || !(calls >= 1)) {
			throw new IllegalArgumentException(
					"A limiter needs requests-per-minute > 0 and burst >= 1, not " + perMinute + " and " + burst);
		}
		return new Bucket(interval(perMinute / SECONDS_PER_MINUTE), calls, settings.networkMargin().toNanos(), now);
	}

	/**
	 * Creates a full bucket.
	 * @param interval nanoseconds between two paced calls, above 0
	 * @param calls the calls that it holds, at least 1
	 * @param margin the network margin, in nanoseconds
	 * @param now the clock
	 */
	Bucket(long interval, double calls, long margin, long now) {
		this.shape = new Shape(interval, calls);
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
			Shape shape = this.shape;
			long seen = this.fullAt;
			long clock = refillClock(now);
			boolean full = seen - clock <= 0;
			if (full) {
				// A burst begins. Callers that see a full bucket at the same moment write
				// the same, give or take nanoseconds.
				clock = now + this.margin;
				REFILLS_FROM.setOpaque(this, clock);
			}
			long next = (full ? clock : seen) + shape.interval;
			if (next - clock > shape.capacity) {
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
			Shape shape = this.shape;
			long seen = this.fullAt;
			long next = seen + shape.interval;
			if (next - refillClock(now) > shape.capacity) {
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
		Shape shape = this.shape;
		long due = this.fullAt + shape.interval * (ahead + 1L) - shape.capacity;
		return (due - refillClock(now) <= 0) ? now : due;
	}

	/**
	 * Puts back a slot that was not used. A bucket that is full by then stays so.
	 * @param now the clock
	 * @param pausedUntil the moment before which none may be free again; no later than
	 * now where there is no pause
	 */
	void giveBack(long now, long pausedUntil) {
		Shape shape = this.shape;
		long least = pausedUntil + shape.capacity - shape.interval;
		while (true) {
			long seen = this.fullAt;
			long next = seen - shape.interval;
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
		Shape shape = this.shape;
		long least = until + shape.capacity - shape.interval;
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
	 * @return the number, with its fraction, never negative
	 */
	double level(long now) {
		return Math.max(0, balance(this.shape, this.fullAt, now));
	}

	/** The slots that are free, or that are owed if negative. */
	private double balance(Shape shape, long fullAt, long now) {
		long ahead = Math.max(0, fullAt - refillClock(now));
		return (double) (shape.capacity - ahead) / shape.interval;
	}

	/**
	 * Changes rate and capacity, and keeps the slots that are free as far as they fit.
	 * Called by one thread at a time.
	 * @param interval nanoseconds between two paced calls, above 0
	 * @param calls the calls that it holds, at least 1
	 * @param now the clock
	 */
	void reshape(long interval, double calls, long now) {
		Shape before = this.shape;
		Shape after = new Shape(interval, calls);
		this.shape = after;
		while (true) {
			long seen = this.fullAt;
			double kept = balance(before, seen, now);
			if (FULL_AT.compareAndSet(this, seen, fullAt(after, refillClock(now), kept))) {
				return;
			}
		}
	}

	/**
	 * Begins again with at most a number of slots, none of which was free before: the
	 * provider's bucket has just been seen empty. The refill clock stands still for the
	 * network margin, as after a burst.
	 * @param slots the slots, negative if some are owed
	 * @param extra what is added to those that are there before the limit is applied
	 * @param now the clock
	 */
	void restart(double slots, double extra, long now) {
		Shape shape = this.shape;
		long clock = now + this.margin;
		while (true) {
			long seen = this.fullAt;
			double level = Math.min(slots, balance(shape, seen, now) + extra);
			REFILLS_FROM.setOpaque(this, clock);
			if (FULL_AT.compareAndSet(this, seen, fullAt(shape, clock, level))) {
				return;
			}
		}
	}

	/**
	 * Lets nothing out until a moment, then one, then the others at the rate, whatever
	 * was free before.
	 * @param until the moment
	 */
	void restartAt(long until) {
		Shape shape = this.shape;
		REFILLS_FROM.setOpaque(this, until);
		this.fullAt = fullAt(shape, until, 1);
	}

	private static long fullAt(Shape shape, long clock, double level) {
		return clock + shape.capacity - (long) (level * shape.interval);
	}

	private static final class Shape {

		private final long interval;

		private final long capacity;

		Shape(long interval, double calls) {
			this.interval = interval;
			this.capacity = (long) Math.min(Long.MAX_VALUE / 4.0, interval * calls);
		}

	}

}
