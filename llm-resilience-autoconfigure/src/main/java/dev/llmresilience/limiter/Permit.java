package dev.llmresilience.limiter;

import dev.llmresilience.Priority;

/**
 * What one call has to do with a {@link RateLimiter}: who it is, and what its present
 * attempt has taken. It is made once for a call and serves all of its attempts, so that
 * an attempt allocates nothing. The limiter gives it back through
 * {@link RateLimiter#giveBack giveBack}, or settles it through
 * {@link RateLimiter#onSuccess onSuccess}, {@link RateLimiter#onFailure onFailure} or
 * {@link RateLimiter#onRejected onRejected}.
 * <p>
 * Belongs to one call: its fields are touched by the thread that makes the call, and by
 * the limiter while that thread waits for its ticket.
 */
public final class Permit {

	/** One for each of {@link dev.llmresilience.RateLimitSnapshot.Dimension}. */
	private static final int DIMENSIONS = 4;

	private static final double[] NOTHING = new double[DIMENSIONS];

	final Object owner;

	final Priority priority;

	final long born;

	/** Whether the call around this one holds a place in flight already. */
	private final boolean nested;

	/** The tokens that the call is taken to use, zero if unknown. */
	double tokens;

	/** When the attempt was sent. */
	long sent;

	/** The number of the attempt among all calls, 0 while they are not counted. */
	long number;

	/** Whether the attempt has its place in flight. */
	boolean place;

	/** Whether the call is expected back after a rejection. */
	boolean away;

	/** Whether the limit on calls was charged. */
	private boolean slot;

	/** By dimension of tokens: what was charged, and the number of the attempt. */
	private double[] charged = NOTHING;

	private double[] numbers = NOTHING;

	/**
	 * Creates the permit of a call.
	 * @param owner whose calls are refused together; see
	 * {@link RateLimiter#refuseWaiting(Object)}
	 * @param priority how urgent the call is
	 * @param tokens the tokens that it is estimated to use, zero or less if unknown
	 * @param nested whether the call around this one holds a place in flight at the same
	 * limiter, which then serves this one too
	 * @param born when the call began, on the monotonic clock, in nanoseconds: the oldest
	 * retry goes first
	 */
	public Permit(Object owner, Priority priority, long tokens, boolean nested, long born) {
		this.owner = owner;
		this.priority = priority;
		this.tokens = Math.max(0, tokens);
		this.nested = nested;
		this.born = born;
	}

	/**
	 * The tokens that the call is taken to use.
	 * @return the estimate, zero if unknown
	 */
	public long tokens() {
		return (long) this.tokens;
	}

	/**
	 * The number of the present attempt among all that the limiter has counted.
	 * @return the number, 0 while it does not count
	 */
	public long number() {
		return this.number;
	}

	/**
	 * When the present attempt was sent.
	 * @return the moment on the monotonic clock, in nanoseconds
	 */
	public long sent() {
		return this.sent;
	}

	/**
	 * Whether the present attempt has a place in flight, be it that of the call around.
	 * @return whether it has
	 */
	public boolean hasPlace() {
		return this.place || this.nested;
	}

	boolean isNested() {
		return this.nested;
	}

	/** An attempt begins that has taken nothing yet. */
	void begin() {
		this.slot = false;
		this.number = 0;
		if (this.charged != NOTHING) {
			clear(this.charged);
		}
		if (this.numbers != NOTHING) {
			clear(this.numbers);
		}
	}

	/** One by one, which for so few is several times as fast as to fill the array. */
	private static void clear(double[] values) {
		values[3] = 0;
		values[2] = 0;
		values[1] = 0;
	}

	double charged(int dimension) {
		return (dimension == 0) ? (this.slot ? 1 : 0) : this.charged[dimension];
	}

	double number(int dimension) {
		return (dimension == 0) ? this.number : this.numbers[dimension];
	}

	void charge(int dimension, double units) {
		if (dimension == 0) {
			this.slot = units > 0;
		}
		else if (units != this.charged[dimension]) {
			this.charged = own(this.charged);
			this.charged[dimension] = units;
		}
	}

	void number(int dimension, long number) {
		if (dimension == 0) {
			this.number = number;
		}
		else if (number != this.numbers[dimension]) {
			this.numbers = own(this.numbers);
			this.numbers[dimension] = number;
		}
	}

	private static double[] own(double[] values) {
		return (values == NOTHING) ? new double[DIMENSIONS] : values;
	}

}
