package dev.llmresilience.limiter;

/**
 * Whether others press on the same limit without telling, and how the pace moves while
 * they do.
 * <p>
 * Whoever is alone with a limit, and keeps to the rate that was measured, is hardly ever
 * rejected; to be rejected all the same, twice within {@value #WINDOW} seconds, is the
 * sign of others. Later ones are rejections of a pace that was no higher than what has
 * just been measured, for whoever is alone is mostly rejected above that. Where chance
 * deceives, that costs few rejections more, and ends after those seconds. To go back to
 * the measured rate then would keep whatever shares chance has dealt. So the pace grows
 * by equal steps and falls by an equal part, which of all linear rules is the one that
 * makes shares equal, whoever had more before (Chiu and Jain, <cite>Analysis of the
 * Increase and Decrease Algorithms for Congestion Avoidance in Computer Networks</cite>,
 * 1989).
 * <p>
 * Not thread-safe: belongs to a learner. Moments are those of the monotonic clock in
 * nanoseconds.
 */
final class Contention {

	/** What a rejection leaves of the pace. */
	private static final double LEFT = 0.75;

	/** By how many calls a second the pace grows in a second. */
	private static final double STEP = 0.25;

	/** A slow pace does not double within so many calls by these steps. */
	private static final double STEP_CALLS = 25;

	/** So many seconds or calls without a rejection, and the steps grow. */
	private static final double PATIENCE = 8;

	private static final double PATIENCE_CALLS = 25;

	/** Below so many calls a second, too few rejections are heard to tell anything. */
	private static final double SLOW = 2;

	/** So little above what was measured, a pace still keeps to it. */
	private static final double KEPT = 1.02;

	/** What is measured below this part of the pace is a fall, whoever caused it. */
	private static final double FALL = 0.25;

	/** In seconds: how close signs of others must be, and how long they count. */
	private static final int WINDOW = 60;

	private static final double SECOND = 1e9;

	private static final long WINDOW_NANOS = (long) (WINDOW * SECOND);

	/** What was measured last, in units a second; 0 if nothing certain. */
	private double measured;

	private double measuredBefore;

	/** When a sign was last seen. */
	private long sign;

	private long signBefore;

	/** Until when others are taken to be there. */
	private long until;

	private long untilBefore;

	/** When the episode began. */
	private long opened;

	/**
	 * Begins alone.
	 * @param now the clock
	 */
	Contention(long now) {
		forget(now);
	}

	/**
	 * Forgets others, and what was measured.
	 * @param now the clock
	 */
	void forget(long now) {
		this.measured = 0;
		this.sign = now - WINDOW_NANOS;
		this.until = now;
		open(now);
	}

	/**
	 * An episode begins: what holds now is the state before it.
	 * @param now the clock
	 */
	void open(long now) {
		this.measuredBefore = this.measured;
		this.signBefore = this.sign;
		this.untilBefore = this.until;
		this.opened = now;
	}

	boolean holds(long now) {
		return this.until - now > 0;
	}

	private boolean heldBefore() {
		return this.untilBefore - this.opened > 0;
	}

	/**
	 * Takes in what the episode has shown, again from the state before it.
	 * @param pace the pace before the episode, in units a second
	 * @param rate what the rate is taken to be, in units a second
	 * @param unit what a typical call costs
	 * @param measured whether that was measured between this episode and the one before
	 * @param sure whether it is certain
	 */
	void heard(double pace, double rate, double unit, boolean measured, boolean sure) {
		this.sign = this.signBefore;
		this.until = this.untilBefore;
		double expected = heldBefore() ? rate : KEPT * this.measuredBefore;
		if (measured && pace >= SLOW * unit && pace <= expected) {
			if (this.opened - this.signBefore < WINDOW_NANOS) {
				this.until = this.opened + WINDOW_NANOS;
			}
			this.sign = this.opened;
		}
		if (rate < FALL * pace) {
			this.until = this.opened;
		}
		this.measured = (sure || (measured && holds(this.opened))) ? rate : 0;
	}

	/**
	 * Whether the pace falls by its part rather than to what was measured: if others were
	 * there before the episode, and still are.
	 * @return whether it does
	 */
	boolean governs() {
		return heldBefore() && holds(this.opened);
	}

	/**
	 * What is left of a pace after a rejection.
	 * @param pace the pace
	 * @return the lower one
	 */
	double lower(double pace) {
		return LEFT * pace;
	}

	/**
	 * Whether the pace grows by steps only.
	 * @param pace the pace, in calls a second
	 * @param quiet nanoseconds since the last rejection, or the pause after it
	 * @return whether it does
	 */
	boolean isPatient(double pace, long quiet) {
		return quiet / SECOND < Math.max(PATIENCE, PATIENCE_CALLS / pace);
	}

	/**
	 * The pace after a while of growing by steps.
	 * @param pace the pace, in calls a second
	 * @param seconds how long
	 * @return calls a second, no more than twice the pace
	 */
	double raise(double pace, double seconds) {
		double step = Math.min(STEP, Math.log(2) * pace * pace / STEP_CALLS);
		return Math.min(2 * pace, pace + seconds * step);
	}

}
