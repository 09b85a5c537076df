package dev.llmresilience.limiter;

import dev.llmresilience.limiter.Contention.Measured;
import org.jspecify.annotations.Nullable;

/**
 * Learns a provider's rate from its rejections.
 * <p>
 * A rejection says one exact thing: the provider's bucket was empty when that request
 * arrived. Between two such moments, under constant pressure, {@code accepted = rate *
 * time}, give or take one call, whatever the size of the bucket. So two rejections
 * measure the rate; the measured rate is then kept for a while before it is doubled,
 * slowly, to see whether it still holds.
 * <p>
 * An <em>episode</em> is all rejections of calls that were sent before the first of them
 * was heard. It makes one decision, computed again from the state before it at each of
 * its rejections, so that late ones correct it and do not repeat it.
 * <p>
 * Not thread-safe: the limiter calls it under its lock. Rates are units a second, calls
 * or tokens; moments are those of the monotonic clock in nanoseconds.
 */
final class PaceLearner {

	/** The least pace, in calls, after a rejection from which nothing can be measured. */
	private static final double FLOOR = 1;

	/** What is left of the pace when nothing, or only a bound, is measured. */
	private static final double BACK = 0.5;

	/** The pace doubles in this time until a rate has been measured. */
	private static final double LEARN = 0.5;

	/** How long a measured rate is kept: so many seconds, or calls if that is longer. */
	private static final double HOLD = 6;

	private static final double HOLD_CALLS = 25;

	/** How slowly it then doubles: in so many seconds, or calls if that is longer. */
	private static final double PROBE = 3;

	private static final double PROBE_CALLS = 8;

	/**
	 * Where moderate demand emptied the bucket, others may have helped: the first pace is
	 * kept for so many calls, and doubles in no fewer.
	 */
	private static final double MODERATE_CALLS = 16;

	/** Without a rejection for so long, and with nobody waiting, the pace is let go. */
	private static final double QUIET = 60;

	private static final double SECOND = 1e9;

	private final double margin;

	/** What a typical call costs: 1 where calls are counted. */
	private double unit;

	/** Units a second; infinite while calls pass unpaced. */
	private double pace;

	private double ceiling;

	private double capacity;

	/** Whether the size of the bucket is known, or the pace's own. */
	private boolean sized;

	private boolean burstConfigured;

	private double rejected;

	/** Whether demand was moderate when it was first rejected. */
	private boolean moderate;

	/** Whether the last episode left the pace as it was. */
	private boolean unheeded;

	private double settled;

	private long heard = Long.MIN_VALUE;

	private long lastRejection;

	private @Nullable Episode episode;

	private @Nullable Episode anchor;

	private Band band = Band.NONE;

	private Band bandBefore = Band.NONE;

	/** Seconds paused since the episode before. */
	private double gap;

	private double gapBefore;

	private double paceBefore;

	/** The pace just after the last decision. */
	private double start;

	private double startBefore;

	private double doubling = LEARN;

	private final Contention contention;

	private long hold;

	private long pause;

	/** Round trip of rejections, smoothed, in seconds. */
	private double roundTrip;

	/**
	 * Creates a learner.
	 * @param limit the configured limit, or {@code null} to begin unpaced
	 * @param unit what a typical call costs
	 * @param marginNanos how late the first paced slot after a burst is
	 * @param now the monotonic clock
	 */
	PaceLearner(@Nullable Limit limit, double unit, long marginNanos, long now) {
		this.unit = unit;
		this.ceiling = (limit != null) ? limit.perSecond() : Double.POSITIVE_INFINITY;
		this.pace = this.ceiling;
		this.paceBefore = this.pace;
		this.start = (limit != null) ? limit.perSecond() : 0;
		this.burstConfigured = limit != null && limit.sized();
		this.sized = this.burstConfigured;
		this.capacity = (limit != null) ? limit.capacity() : unit;
		this.margin = marginNanos / SECOND;
		this.contention = new Contention(now);
		this.hold = now;
		this.pause = now;
		this.lastRejection = now;
	}

	boolean isTransparent() {
		return this.pace == Double.POSITIVE_INFINITY;
	}

	double pace() {
		return this.pace;
	}

	double capacity() {
		return this.capacity;
	}

	/** Whether the size of the provider's bucket is known. */
	boolean isSized() {
		return this.sized;
	}

	long pausedUntil() {
		return this.pause;
	}

	/** Follows what calls cost. */
	void unit(double unit) {
		this.unit = unit;
	}

	/**
	 * Lets the pace grow while it holds callers back.
	 * @param now the clock
	 * @param since when it was last asked
	 */
	void grow(long now, long since) {
		boolean contended = this.contention.holds(now);
		// To hold still would keep shares as they are.
		long from = Math.max(since, contended ? this.pause : Math.max(this.hold, this.pause));
		if (isTransparent() || this.pace >= this.ceiling || now - from <= 0) {
			return;
		}
		double seconds = (now - from) / SECOND;
		if (contended) {
			long quietSince = (this.pause - this.lastRejection > 0) ? this.pause : this.lastRejection;
			setPace(this.contention.grow(this.pace, this.unit, seconds, now - quietSince, probe(this.pace)));
		}
		else {
			// However long nobody looked, between two grants it doubles once at most.
			setPace(this.pace * StrictMath.pow(2, Math.min(1, seconds / this.doubling)));
		}
	}

	/**
	 * Nobody waits any more: from now on the provider's bucket may overflow unseen, and
	 * what it accepts is only the demand.
	 * @param now the clock
	 */
	void relax(long now) {
		this.episode = null;
		if (!isTransparent() && now - this.pause >= 0 && (now - this.lastRejection) / SECOND > QUIET) {
			this.band = Band.NONE;
			if (this.pace != this.ceiling) {
				setPace(this.ceiling);
			}
		}
	}

	/**
	 * Sets the configured rate anew.
	 * @param limit the limit, or {@code null} for none
	 * @param now the clock
	 */
	void configure(@Nullable Limit limit, long now) {
		this.contention.forget(now);
		boolean measured = this.sized && !this.burstConfigured;
		this.burstConfigured = limit != null && limit.sized();
		this.band = Band.NONE;
		this.episode = null;
		this.ceiling = (limit != null) ? limit.perSecond() : Double.POSITIVE_INFINITY;
		if (!measured) {
			this.capacity = (limit != null) ? limit.capacity() : this.unit;
			this.sized = this.burstConfigured;
		}
		setPace(this.ceiling);
		this.start = (limit != null) ? this.pace : 0;
	}

	/**
	 * Takes in what the provider has announced: the new ceiling, and the pace too unless
	 * a lower one has been measured.
	 * @param rate the rate
	 * @param capacity the size of the bucket
	 * @param moved whether the provider has changed it
	 */
	void announce(double rate, double capacity, boolean moved) {
		boolean follow = moved || isUnhindered();
		this.ceiling = rate;
		this.capacity = capacity;
		this.sized = true;
		setPace(follow ? rate : this.pace);
	}

	/**
	 * What was announced does not count any more: as configured again, unless a lower
	 * pace has been measured.
	 * @param limit the configured limit, or {@code null} for none
	 */
	void withdraw(@Nullable Limit limit) {
		boolean follow = isUnhindered();
		this.ceiling = (limit != null) ? limit.perSecond() : Double.POSITIVE_INFINITY;
		this.capacity = (limit != null) ? limit.capacity() : this.unit;
		this.sized = this.burstConfigured;
		setPace(follow ? this.ceiling : this.pace);
	}

	/** Whether no rejection holds the pace below what is configured or announced. */
	boolean isUnhindered() {
		return isTransparent() || this.pace >= 0.999 * this.ceiling;
	}

	/**
	 * Corrects what a call has cost: by its true usage, or because it was rejected for
	 * another limit than this one.
	 * @param number its number
	 * @param difference what it cost more than it was charged
	 */
	void settle(double number, double difference) {
		this.settled += difference;
		for (Episode known : new @Nullable Episode[] { this.anchor, this.episode }) {
			if (known != null) {
				known.correct(number, difference);
			}
		}
	}

	/**
	 * Takes a rejection in.
	 * @param call the call
	 * @param hint what the server said, in nanoseconds, or -1 if nothing
	 * @param silence the pause where it said nothing, in nanoseconds
	 * @param peak the most units that were accepted in one of the last seconds
	 * @param now the clock
	 * @return what to do about it
	 */
	Reaction rejected(Sent call, long hint, long silence, double peak, long now) {
		this.rejected += call.cost();
		double trip = (now - call.at()) / SECOND;
		this.roundTrip += ((this.roundTrip > 0) ? 0.1 : 1) * (trip - this.roundTrip);
		this.lastRejection = now;
		boolean opens = this.heard == Long.MIN_VALUE || isTransparent() || call.at() - this.heard > 0;
		if (opens) {
			// What changed nothing is one measurement with what follows.
			boolean goesOn = this.unheeded && this.anchor != null && this.episode != null;
			this.anchor = goesOn ? this.anchor : this.episode;
			this.bandBefore = this.band;
			this.paceBefore = this.pace;
			this.gapBefore = (goesOn ? this.gapBefore : 0) + this.gap;
			this.startBefore = this.start;
			this.contention.open(now);
			this.heard = now;
			this.gap = 0;
			this.episode = null;
		}
		if (this.anchor != null) {
			this.anchor.correct(call.number(), -call.cost());
		}
		Episode current = this.episode;
		if (current == null) {
			current = new Episode(call);
			this.episode = current;
		}
		current.include(call, this.rejected - this.settled);
		boolean unpaced = this.paceBefore == Double.POSITIVE_INFINITY;
		learn(current, peak, now);
		double explanation = Math.ceil(this.unit / this.pace) * SECOND;
		if (!unpaced && Math.max(0, hint) <= explanation) {
			return new Reaction(true, now + Math.max(0, hint));
		}
		long free = now + ((hint >= 0) ? hint : silence);
		this.gap += Math.max(0, free - Math.max(now, this.pause)) / SECOND;
		this.pause = Math.max(this.pause, free);
		double still = (unpaced && this.moderate) ? MODERATE_CALLS * this.unit / this.pace : 0;
		this.hold = Math.max(this.hold, this.pause + (long) (still * SECOND));
		return new Reaction(false, this.pause);
	}

	private void learn(Episode current, double peak, long now) {
		boolean sure = false;
		Measured measured = Measured.NONE;
		double floor = FLOOR * this.unit;
		double rate;
		Episode anchor = this.anchor;
		if (anchor != null && this.paceBefore != Double.POSITIVE_INFINITY) {
			double seconds = Math.max(1e-3, (current.at() - anchor.at()) / SECOND);
			double accepted = current.accepted() - anchor.accepted();
			boolean uninterrupted = this.gapBefore == 0;
			Band band = Band.measured(accepted, this.unit, seconds, this.gapBefore, this.margin);
			measured = new Measured(accepted / seconds, band.high(), uninterrupted);
			this.band = band.meet(this.bandBefore);
			rate = !uninterrupted ? Math.max(accepted, 0.5 * this.unit) / seconds : this.band.middle();
			if (this.paceBefore * BACK > this.startBefore) {
				// Doubled unhindered: the bucket overflowed or the limit rose, so what
				// was accepted is only a lower bound.
				rate = Math.max(rate, this.paceBefore * BACK);
				this.band = new Band(this.band.low(), this.paceBefore);
			}
			else {
				sure = uninterrupted && this.band.high() <= 2 * this.band.low();
			}
			this.doubling = uninterrupted ? probe(rate) : ramp(rate);
		}
		else {
			// No pressure before: what is held is believed once, if clearly below the
			// pace.
			rate = this.bandBefore.isKnown() ? this.bandBefore.middle() : Double.POSITIVE_INFINITY;
			boolean paced = this.paceBefore != Double.POSITIVE_INFINITY;
			sure = paced && rate < 0.95 * this.paceBefore;
			if (!sure) {
				if (!paced) {
					this.moderate = current.rejected() <= peak;
					this.contention.start(this.moderate);
				}
				rate = paced ? Math.max(this.paceBefore * BACK, Math.min(this.paceBefore, floor))
						: Math.max(floor, 0.5 * peak);
			}
			this.doubling = sure ? probe(rate) : ramp(rate);
		}
		double shared = this.contention.heard(this.paceBefore, rate, this.unit, measured, sure);
		this.unheeded = shared == this.paceBefore;
		if (shared >= 0) {
			rate = Math.max(Math.min(this.paceBefore, floor), shared);
			sure = false;
		}
		setPace(rate);
		this.start = this.pace;
		this.hold = sure ? now + (long) (Math.max(HOLD, HOLD_CALLS * this.unit / this.pace) * SECOND) : now;
	}

	private double probe(double rate) {
		return Math.max(PROBE, PROBE_CALLS * this.unit / rate);
	}

	/** Feedback has to stay ahead of growth, and growth of no grant at all. */
	private double ramp(double rate) {
		double calls = this.moderate ? MODERATE_CALLS : 1;
		return Math.max(LEARN, Math.max(4 * this.roundTrip, calls * this.unit / rate));
	}

	private void setPace(double pace) {
		this.pace = Math.min(pace, this.ceiling);
		if (!this.sized && !isTransparent()) {
			this.capacity = Math.max(this.unit, this.pace);
		}
	}

}
