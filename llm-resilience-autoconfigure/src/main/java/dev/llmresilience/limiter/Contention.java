package dev.llmresilience.limiter;

/**
 * Whether others press on the same limit without telling, and how the pace moves while
 * they do.
 * <p>
 * Whoever is alone with a limit, and keeps to the rate that was measured, is hardly ever
 * rejected; to be rejected all the same is the sign of others. They are taken to be there
 * for a minute from the first sign, and for half a minute after the first measurement of
 * a start in moderate demand, when nobody can know. To go back to the measured rate then
 * would keep whatever shares chance has dealt. So a rejection takes an equal part of the
 * pace, and a slow pace grows by larger steps than its size would give it: that makes
 * shares equal, whoever had more before (Chiu and Jain, <cite>Analysis of the Increase
 * and Decrease Algorithms for Congestion Avoidance in Computer Networks</cite>, 1989).
 * Part and steps are small, because each hears few rejections, and what one makes of its
 * luck is taken from the others.
 * <p>
 * Such steps take long to find what others have left. So after a while without a
 * rejection the pace is doubled on trial. What a trial brings is mostly what had piled up
 * in the provider's bucket, and is not kept, unless it shows that the others are gone.
 * <p>
 * Not thread-safe: belongs to a learner. Moments are those of the monotonic clock in
 * nanoseconds, paces are units a second: calls or tokens.
 */
final class Contention {

	/** What a rejection leaves of the pace. */
	private static final double LEFT = 0.92;

	/** What a trial that is rejected leaves of the pace before it. */
	private static final double TRIED = 0.95;

	/** So much more accepted than the pace before a trial, and the others are gone. */
	private static final double GONE = 1.3;

	/**
	 * By how many calls a second a pace grows in a second: the first divided by the calls
	 * a second that it has, or the second by their root, whichever is more. Both are less
	 * than in proportion, which is what makes shares equal, and the fewer others there
	 * are, the sooner each finds what is free.
	 */
	private static final double SLOW_STEP = 0.06;

	private static final double FAST_STEP = 0.012;

	/** A slow pace does not double within so many calls by these steps. */
	private static final double STEP_CALLS = 70;

	/** So many seconds or calls without a rejection, and a trial begins. */
	private static final double PATIENCE = 8;

	private static final double PATIENCE_CALLS = 50;

	/** For so long after it has heeded one, rejections are for others to heed. */
	private static final long GRACE = 3_000_000_000L;

	/** Below so many calls a second, too few rejections are heard to tell anything. */
	private static final double SLOW = 2;

	/** So little above what was measured, a pace still keeps to it. */
	private static final double KEPT = 1.02;

	/**
	 * If surely no more than this part of a steady pace is accepted, the rate has fallen.
	 */
	private static final double FALL = 0.65;

	/** After so long it is looked at afresh, for a lone slow pace looks alike. */
	private static final long WINDOW = 60_000_000_000L;

	/** How long others are assumed after a start. */
	private static final long START = 30_000_000_000L;

	/** Below so many calls a second they are not assumed. */
	private static final double START_RATE = 1;

	private static final double SECOND = 1e9;

	private State state;

	/** What held when the episode began. */
	private State before;

	private long opened;

	/**
	 * Begins alone.
	 * @param now the clock
	 */
	Contention(long now) {
		this.state = State.alone(now);
		this.before = this.state;
		this.opened = now;
	}

	/**
	 * Forgets others, and what was measured.
	 * @param now the clock
	 */
	void forget(long now) {
		this.state = State.alone(now);
		open(now);
	}

	/**
	 * An episode begins: what holds now is the state before it.
	 * @param now the clock
	 */
	void open(long now) {
		this.before = this.state;
		this.opened = now;
	}

	/**
	 * The first rejection of all has been heard.
	 * @param moderate whether demand was not far above what the provider takes
	 */
	void start(boolean moderate) {
		this.before = this.before.starting(moderate);
	}

	boolean holds(long now) {
		return this.state.holds(now);
	}

	/**
	 * Takes in what the episode has shown, again from the state before it.
	 * @param pace the pace before the episode
	 * @param rate what the rate is taken to be
	 * @param unit what a typical call costs
	 * @param measured what was measured since the episode before
	 * @param sure whether the rate is certain
	 * @return the pace from now on, if it is not to be the rate; negative otherwise
	 */
	double heard(double pace, double rate, double unit, Measured measured, boolean sure) {
		State known = this.before;
		boolean contended = known.holds(this.opened);
		boolean onTrial = contended && known.isOnTrial();
		boolean starts = known.starting && measured.perSecond > 0;
		boolean kept = contended ? !onTrial : pace <= KEPT * known.measured;
		boolean gone = onTrial && measured.uninterrupted && measured.perSecond > GONE * known.tried;
		boolean recent = contended && this.opened - known.fell < GRACE;
		boolean fallen = !recent && measured.most < FALL * (onTrial ? known.tried : pace);
		long since = contended ? known.since : this.opened;
		long until = known.until;
		if (measured.uninterrupted && kept && !fallen && pace >= SLOW * unit) {
			until = since + WINDOW;
		}
		if (gone) {
			until = this.opened;
		}
		if (starts && rate >= START_RATE * unit) {
			until = this.opened + START;
		}
		boolean governs = until - this.opened > 0 && !starts;
		this.state = new State((sure || (measured.uninterrupted && until - this.opened > 0)) ? rate : 0, since, until,
				(governs && !recent) ? this.opened : known.fell, 0, known.starting && !starts);
		if (!governs) {
			return -1;
		}
		if (fallen) {
			return measured.most;
		}
		if (onTrial) {
			return Math.min(pace, TRIED * Math.max(known.tried, measured.uninterrupted ? measured.perSecond : 0));
		}
		return recent ? pace : LEFT * pace;
	}

	/**
	 * The pace after a while in which it held callers back.
	 * @param pace the pace
	 * @param unit what a typical call costs
	 * @param seconds how long
	 * @param quiet nanoseconds since the last rejection, or the pause after it
	 * @param doubling in how many seconds a pace on trial doubles
	 * @return the pace then, no more than twice as high
	 */
	double grow(double pace, double unit, double seconds, long quiet, double doubling) {
		double calls = (this.state.isOnTrial() ? this.state.tried : pace) / unit;
		if (quiet / SECOND >= Math.max(PATIENCE, PATIENCE_CALLS / calls)) {
			if (!this.state.isOnTrial()) {
				this.state = this.state.trying(pace);
			}
			return pace * StrictMath.pow(2, Math.min(1, seconds / doubling));
		}
		this.state = this.state.trying(0);
		double step = Math.min(Math.max(SLOW_STEP / calls, FAST_STEP * Math.sqrt(calls)),
				Math.log(2) * calls * calls / STEP_CALLS);
		return Math.min(2 * pace, pace + unit * seconds * step);
	}

	/**
	 * What was measured between two episodes.
	 *
	 * @param perSecond the units that were accepted in a second
	 * @param most what the rate can be at most
	 * @param uninterrupted whether no pause lies between
	 */
	record Measured(double perSecond, double most, boolean uninterrupted) {

		/** Nothing. */
		static final Measured NONE = new Measured(0, Double.POSITIVE_INFINITY, false);

	}

	/**
	 * What is known.
	 *
	 * @param measured what was measured last, 0 if nothing certain
	 * @param since since when others are taken to be there, if they are
	 * @param until until when others are taken to be there
	 * @param fell when a rejection was last heeded
	 * @param tried the pace before the trial under way, 0 if there is none
	 * @param starting whether the next measurement is the first
	 */
	private record State(double measured, long since, long until, long fell, double tried, boolean starting) {

		static State alone(long now) {
			return new State(0, now, now, now - GRACE, 0, false);
		}

		boolean holds(long now) {
			return this.until - now > 0;
		}

		boolean isOnTrial() {
			return this.tried > 0;
		}

		State trying(double pace) {
			return (pace == this.tried) ? this
					: new State(this.measured, this.since, this.until, this.fell, pace, this.starting);
		}

		State starting(boolean starting) {
			return new State(this.measured, this.since, this.until, this.fell, this.tried, starting);
		}

	}

}
