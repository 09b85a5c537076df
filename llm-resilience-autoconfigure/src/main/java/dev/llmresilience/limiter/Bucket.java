package dev.llmresilience.limiter;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A bucket that refills continuously, kept as the moment at which it will be full again,
 * the way of the generic cell rate algorithm (ITU-T I.371): a call moves that moment by
 * what it costs, and may leave if it then lies no further ahead than the whole capacity.
 * The moment is the number that this class {@linkplain PaddedLong extends}. What it holds
 * is counted in units: calls, or tokens.
 * <p>
 * The refill clock follows the provider's. Until the first call of a burst arrives there,
 * the provider's bucket is full and does not refill, so neither does this one: from when
 * a call leaves a full bucket, its clock stands still until the network margin is over or
 * an answer has come, whichever is first. Without this, one or two of a burst are
 * rejected.
 * <p>
 * Thread-safe and lock-free; all moments are nanoseconds of the monotonic clock.
 * Invariant: no change of the moment is lost to another, and a call that costs no more
 * than the capacity never takes it further than the capacity ahead of the refill clock.
 * Only {@link #restartAt} sets it outright, which forgets calls that leave at that very
 * moment.
 */
final class Bucket extends PaddedLong {

	/** Nanoseconds that can be added up without running over. */
	private static final long LONGEST = Long.MAX_VALUE / 16;

	private static final VarHandle REFILLS_FROM;

	static {
		try {
			REFILLS_FROM = MethodHandles.lookup().findVarHandle(Bucket.class, "refillsFrom", long.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private final long margin;

	private volatile Shape shape;

	/** Up to this moment the refill clock stands still at it. */
	private volatile long refillsFrom;

	/**
	 * Before this moment nothing leaves, and the refill clock stands still at it, so that
	 * a change of the rate does not stretch the pause. Written by one thread at a time.
	 */
	private volatile long pausedUntil;

	/**
	 * Creates a full bucket.
	 * @param perSecond units that it refills by in a second, above 0
	 * @param capacity the units that it holds, above 0
	 * @param margin the network margin, in nanoseconds
	 * @param now the clock
	 */
	Bucket(double perSecond, double capacity, long margin, long now) {
		super(now);
		this.shape = new Shape(perSecond, capacity);
		this.margin = margin;
		this.refillsFrom = now;
		this.pausedUntil = now;
	}

	/**
	 * Takes what a call costs.
	 * @param units the cost
	 * @param reserve what has to be left
	 * @param waited whether the call has waited for its turn here: noticed a little late,
	 * that makes a small bucket full, but no burst begins, so that lateness does not add
	 * up
	 * @param now the clock
	 * @return whether it could be taken
	 */
	boolean take(double units, double reserve, boolean waited, long now) {
		for (int defeats = 0;; defeats++) {
			Shape shape = this.shape;
			long seen = get();
			if (isPaused(now)) {
				return false;
			}
			long from = this.refillsFrom;
			long clock = (from - now > 0) ? from : now;
			long base = seen;
			long late = clock - seen;
			if (late >= 0 && !(waited && late <= shape.credit)) {
				// A burst begins. Callers that see a full bucket at the same moment write
				// the same, give or take nanoseconds.
				clock = now + this.margin;
				base = clock;
				REFILLS_FROM.setOpaque(this, clock);
			}
			long cost = shape.nanos(units);
			long needed = (reserve == 0) ? cost : shape.nanos(units + reserve);
			if (base - clock > shape.capacity - Math.min(needed, shape.capacity)) {
				return false;
			}
			if (compareAndSet(seen, base + cost)) {
				return true;
			}
			backOff(defeats);
		}
	}

	private long refillClock(long now) {
		long paused = this.pausedUntil;
		long from = this.refillsFrom;
		long latest = (paused - now > 0) ? paused : now;
		return (from - latest > 0) ? from : latest;
	}

	/** Before this moment nothing leaves. */
	long pausedUntil() {
		return this.pausedUntil;
	}

	boolean isPaused(long now) {
		return this.pausedUntil - now > 0;
	}

	/**
	 * When a call could leave that has others before it.
	 * @param ahead what those before it cost
	 * @param units what it costs itself
	 * @param reserve what has to be left
	 * @param now the clock
	 * @return the moment; now, if it could leave already
	 */
	long freeAt(double ahead, double units, double reserve, long now) {
		Shape shape = this.shape;
		long needed = Math.min(shape.nanos(units + reserve), shape.capacity);
		long due = get() + shape.nanos(ahead) + needed - shape.capacity;
		if (due - refillClock(now) > 0) {
			return due;
		}
		long paused = this.pausedUntil;
		return (paused - now > 0) ? paused : now;
	}

	/**
	 * How long it takes until it is full if nobody takes anything.
	 * @param now the clock
	 * @return nanoseconds
	 */
	long missing(long now) {
		return Math.max(0, get() - refillClock(now));
	}

	/**
	 * Puts something back, or takes it whether it is there or not. Never fills the bucket
	 * above its capacity, and during a pause not above what there is at its end.
	 * @param units what is put back, negative to take
	 * @param now the clock
	 */
	void settle(double units, long now) {
		Shape shape = this.shape;
		long change = shape.nanos(units);
		long least = this.pausedUntil + shape.capacity - shape.one;
		while (true) {
			long seen = get();
			long clock = refillClock(now);
			long next = seen - change;
			if (change > 0 && next - clock < 0) {
				next = (seen - clock < 0) ? seen : clock;
			}
			if (change > 0 && isPaused(now) && least - next > 0) {
				next = (least - seen > 0) ? seen : least;
			}
			if (compareAndSet(seen, next)) {
				return;
			}
		}
	}

	/**
	 * Lets nothing out until a moment, then one call, then the others at the rate.
	 * @param until the moment
	 * @param units what there is then at most
	 */
	void pause(long until, double units) {
		Shape shape = this.shape;
		long least = fullAt(shape, until, Math.min(units, shape.units));
		if (until - this.pausedUntil > 0) {
			this.pausedUntil = until;
		}
		while (true) {
			long seen = get();
			if (least - seen <= 0 || compareAndSet(seen, least)) {
				return;
			}
		}
	}

	/**
	 * Whether it is worth reading the clock for an answer: the refill clock may stand
	 * still for the burst that the call belongs to, and that has left less than half.
	 * While there is more, hardly anybody waits for what would come a little sooner.
	 * @param sent when the call left
	 * @return whether it is
	 */
	boolean heedsAnswer(long sent) {
		long from = this.refillsFrom;
		return sent - (from - this.margin) >= 0 && get() - from > this.shape.capacity / 2;
	}

	/**
	 * Lets the refill clock run from now on, if it stands still for a burst that a call
	 * belongs to.
	 * @param sent when the call left
	 * @param now the clock
	 * @return whether calls can leave sooner than before
	 */
	boolean answered(long sent, long now) {
		long from = this.refillsFrom;
		long early = from - now;
		if (early <= 0 || isPaused(now) || sent - (from - this.margin) < 0) {
			return false;
		}
		if (!REFILLS_FROM.compareAndSet(this, from, now)) {
			return false;
		}
		add(-early);
		return true;
	}

	/**
	 * What is there.
	 * @param now the clock
	 * @return units, never negative nor more than it holds
	 */
	double level(long now) {
		Shape shape = this.shape;
		return isPaused(now) ? 0 : Math.min(shape.units, Math.max(0, balance(shape, get(), now)));
	}

	/** The rate, in units a second. */
	double perSecond() {
		return this.shape.perSecond;
	}

	/** What it can hold, in units. */
	double capacity() {
		return this.shape.units;
	}

	/** What is there, or is owed if negative. */
	private double balance(Shape shape, long fullAt, long now) {
		long ahead = Math.max(0, fullAt - refillClock(now));
		return (shape.capacity - ahead) / shape.interval;
	}

	/**
	 * Changes rate and capacity, and keeps what is there as far as it fits. Called by one
	 * thread at a time.
	 * @param perSecond units that it refills by in a second, above 0
	 * @param capacity the units that it holds, above 0
	 * @param now the clock
	 */
	void reshape(double perSecond, double capacity, long now) {
		Shape before = this.shape;
		if (before.isOf(perSecond, capacity)) {
			return;
		}
		Shape after = new Shape(perSecond, capacity);
		this.shape = after;
		while (true) {
			long seen = get();
			double kept = balance(before, seen, now);
			if (compareAndSet(seen, fullAt(after, refillClock(now), kept))) {
				return;
			}
		}
	}

	/**
	 * Corrects what is there by what the provider has said.
	 * @param least the least that there must be, in units
	 * @param most the most that there can be, which beats the least
	 * @param now the clock
	 */
	void clamp(double least, double most, long now) {
		Shape shape = this.shape;
		while (true) {
			long seen = get();
			double level = balance(shape, seen, now);
			double right = Math.min(Math.max(level, Math.min(least, shape.units)), most);
			if (right == level || compareAndSet(seen, fullAt(shape, refillClock(now), right))) {
				return;
			}
		}
	}

	/**
	 * Begins again with at most nothing: the provider's bucket has just been seen empty.
	 * The refill clock stands still for the network margin, as after a burst. A pause
	 * goes on as it is.
	 * @param extra what is added to what is there before the limit is applied
	 * @param now the clock
	 */
	void restart(double extra, long now) {
		if (isPaused(now)) {
			return;
		}
		Shape shape = this.shape;
		long clock = now + this.margin;
		while (true) {
			long seen = get();
			double level = Math.min(0, balance(shape, seen, now) + extra);
			REFILLS_FROM.setOpaque(this, clock);
			if (compareAndSet(seen, fullAt(shape, clock, level))) {
				return;
			}
		}
	}

	/**
	 * Lets nothing out until a moment, then one call, then the others at the rate,
	 * whatever was there before.
	 * @param until the moment
	 * @param units what there is then
	 */
	void restartAt(long until, double units) {
		Shape shape = this.shape;
		this.pausedUntil = until;
		REFILLS_FROM.setOpaque(this, until);
		set(fullAt(shape, until, Math.min(units, shape.units)));
	}

	private static long fullAt(Shape shape, long clock, double level) {
		// Rounded up, or the call that is due next would be put off by each change of a
		// pace that grows by next to nothing.
		return clock + shape.capacity - Shape.bounded(Math.ceil(level * shape.interval));
	}

	/** Rate and size. Immutable. */
	private static final class Shape {

		private final double perSecond;

		private final double units;

		/** Nanoseconds in which one unit comes, and the same rounded up. */
		private final double interval;

		private final long one;

		/** The nanoseconds in which it fills. */
		private final long capacity;

		/** How late a call may leave a bucket that holds hardly more than it. */
		private final long credit;

		Shape(double perSecond, double units) {
			this.perSecond = perSecond;
			this.units = units;
			this.interval = 1e9 / perSecond;
			this.one = bounded(Math.ceil(this.interval));
			this.capacity = bounded(this.one * units);
			this.credit = Math.max(0, 2 * this.one - 1 - this.capacity);
		}

		boolean isOf(double perSecond, double units) {
			return this.perSecond == perSecond && this.units == units;
		}

		long nanos(double units) {
			return (units == 1) ? this.one : bounded(units * this.interval);
		}

		private static long bounded(double nanos) {
			return Math.min(LONGEST, (long) nanos);
		}

	}

}
