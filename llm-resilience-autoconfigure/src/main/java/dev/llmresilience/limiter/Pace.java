package dev.llmresilience.limiter;

import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.limiter.LimitSnapshot.Origin;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * At what pace one limit lets calls out: the bucket, and the configured, announced and
 * learnt rates that shape it.
 * <p>
 * The bucket can be read at any time; everything else is called under the limiter's lock.
 */
final class Pace {

	private static final double SECOND = 1e9;

	private static final double SECONDS_PER_MINUTE = 60;

	/** Rates that differ by less are the same. */
	private static final double ALIKE = 0.001;

	/** How long what is announced is not believed after a first rejection against it. */
	private static final long DOUBT = 60_000_000_000L;

	private static final long LONGEST_DOUBT = 60 * DOUBT;

	/** From so much of an announced rate on, a learnt one is about the same. */
	private static final double ABOUT = 0.8;

	private final long margin;

	private final double share;

	private final boolean adaptive;

	private @Nullable Limit configured;

	/** Learns the rate, or {@code null} at a fixed one. */
	private @Nullable PaceLearner learner;

	private AnnouncedRate announced;

	/** Until when nothing that is announced is believed, and for how long that was. */
	private long doubtedUntil;

	private long doubt;

	/** {@code null} while every call passes. */
	private volatile @Nullable Bucket bucket;

	/** When it last had a chance to grow. */
	private long adjustedAt;

	/**
	 * Creates a pace whose bucket is full.
	 * @param configured the configured limit, or {@code null} for none
	 * @param settings the limiter's settings
	 * @param unit what a typical call costs
	 * @param now the clock
	 */
	Pace(@Nullable Limit configured, LimiterSettings settings, double unit, long now) {
		this.margin = settings.networkMargin().toNanos();
		this.share = settings.share();
		this.configured = configured;
		this.adaptive = settings.mode() == LimiterMode.ADAPTIVE;
		this.announced = new AnnouncedRate(this.share);
		startOver(unit, now);
	}

	/**
	 * Begins as configured, and with a full bucket.
	 * @param unit what a typical call costs
	 * @param now the clock
	 */
	void startOver(double unit, long now) {
		Limit configured = this.configured;
		this.announced = new AnnouncedRate(this.share);
		this.doubtedUntil = now;
		this.doubt = 0;
		this.learner = this.adaptive ? new PaceLearner(configured, unit, this.margin, now) : null;
		this.adjustedAt = now;
		this.bucket = (configured != null) ? new Bucket(configured.perSecond(), configured.capacity(), this.margin, now)
				: null;
	}

	/** The configured rate of this process, in units a second, or {@code null}. */
	@Nullable Double configured() {
		Limit configured = this.configured;
		return (configured != null) ? configured.perSecond() : null;
	}

	/**
	 * Shows what holds right now.
	 * @param dimension what is limited
	 * @param time the clock
	 * @return the limit, or {@code null} while every call passes
	 */
	@Nullable LimitSnapshot snapshot(Dimension dimension, TimeSource time) {
		Bucket bucket = this.bucket;
		if (bucket == null) {
			return null;
		}
		long now = time.nanoTime();
		long pause = bucket.pausedUntil() - now;
		return new LimitSnapshot(dimension, bucket.perSecond() * SECONDS_PER_MINUTE, origin(bucket.perSecond()),
				bucket.capacity(), bucket.level(now), (pause > 0) ? time.now().plusNanos(pause) : null);
	}

	private Origin origin(double perSecond) {
		PaceLearner learner = this.learner;
		if (learner != null && !learner.isUnhindered()) {
			return Origin.LEARNT;
		}
		Limit configured = this.configured;
		boolean same = configured != null
				&& Math.abs(perSecond - configured.perSecond()) <= ALIKE * configured.perSecond();
		return same ? Origin.CONFIGURED : Origin.ANNOUNCED;
	}

	@Nullable Bucket bucket() {
		return this.bucket;
	}

	boolean learns() {
		return this.adaptive;
	}

	/** Whether the size of the provider's bucket is known. */
	boolean isSized() {
		PaceLearner learner = this.learner;
		return learner == null || learner.isSized();
	}

	/**
	 * Lets the pace follow what is known by now.
	 * @param holding whether it holds back whoever is first in line
	 * @param idle whether nobody waits or stays away after a rejection
	 * @param now the clock
	 */
	void adjust(boolean holding, boolean idle, long now) {
		PaceLearner learner = this.learner;
		if (learner == null) {
			return;
		}
		if (holding) {
			learner.grow(now, this.adjustedAt);
		}
		else if (idle) {
			learner.relax(now);
		}
		this.adjustedAt = now;
		shape(learner, now);
	}

	private void shape(PaceLearner learner, long now) {
		Bucket bucket = this.bucket;
		if (learner.isTransparent()) {
			this.bucket = null;
		}
		else if (bucket == null) {
			this.bucket = new Bucket(learner.pace(), learner.capacity(), this.margin, now);
		}
		else {
			bucket.reshape(learner.pace(), learner.capacity(), now);
		}
	}

	/**
	 * Learns from a rejection because of this limit.
	 * @param call the call
	 * @param hintNanos what the provider said, or -1
	 * @param silenceNanos the pause where it said nothing
	 * @param peak the most units that were accepted in one of the last seconds
	 * @param unit what a typical call costs
	 * @param now the clock
	 * @return what to do
	 */
	Reaction rejected(Sent call, long hintNanos, long silenceNanos, double peak, double unit, long now) {
		PaceLearner learner = this.learner;
		if (learner == null) {
			throw new IllegalStateException("A fixed limit does not learn");
		}
		Reaction reaction = learner.rejected(call, hintNanos, silenceNanos, peak, now);
		shape(learner, now);
		Bucket bucket = this.bucket;
		if (bucket != null) {
			if (reaction.explained()) {
				bucket.restart(call.cost(), now);
			}
			else {
				bucket.restartAt(learner.pausedUntil(), unit);
			}
		}
		return reaction;
	}

	/**
	 * A call turned out to cost more or less than it was charged.
	 * @param number its number, 0 if it was not counted
	 * @param difference what it cost more
	 * @param unit what a typical call costs by now
	 */
	void settle(double number, double difference, double unit) {
		PaceLearner learner = this.learner;
		if (learner != null) {
			learner.unit(unit);
			if (number > 0) {
				learner.settle(number, difference);
			}
		}
	}

	/**
	 * Follows what a response said about this limit: where the rate is learnt, in both
	 * directions, at a fixed one only downward.
	 * <p>
	 * A configured bucket grows only with its rate, and no room that is announced lets
	 * more out than a lower pace that was learnt: what is announced may be another limit
	 * than the one which counts.
	 * @param snapshot what it said
	 * @param sent when its request was sent
	 * @param inFlight what other calls cost of which the response may not know, or
	 * infinite if that is not known
	 * @param now the clock
	 */
	void announce(RateLimitSnapshot snapshot, long sent, double inFlight, long now) {
		boolean known = inFlight != Double.POSITIVE_INFINITY;
		if (now - this.doubtedUntil < 0 || !this.announced.update(snapshot, sent, known)) {
			return;
		}
		Limit configured = this.configured;
		double rate = this.announced.perSecond(configured);
		if (rate == Double.POSITIVE_INFINITY) {
			return;
		}
		double remaining = snapshot.remaining() * this.share;
		double capacity = snapshot.limit() * this.share;
		boolean more = true;
		if (configured != null && rate <= configured.perSecond()) {
			more = false;
			capacity = Math.min(capacity, configured.capacity());
		}
		boolean first = this.bucket == null;
		PaceLearner learner = this.learner;
		if (learner != null) {
			learner.announce(rate, capacity, this.announced.hasMoved());
			shape(learner, now);
		}
		else if (this.bucket != null && configured != null) {
			this.bucket.reshape(Math.min(rate, configured.perSecond()), Math.min(capacity, configured.capacity()), now);
		}
		Bucket bucket = this.bucket;
		if (bucket != null) {
			boolean raises = learner != null && more && learner.pace() >= ABOUT * rate;
			double least = raises ? remaining - inFlight : Double.NEGATIVE_INFINITY;
			double most = remaining + rate * (now - sent) / SECOND;
			bucket.clamp(least, first ? Math.min(most, remaining) : most, now);
		}
	}

	/**
	 * A call was rejected although this limit, as announced, had room for it: another one
	 * counts, which can only be learnt. What is announced is not believed for a while, a
	 * longer one each time.
	 * @param now the clock
	 */
	void doubt(long now) {
		if (now - this.doubtedUntil < 0) {
			return;
		}
		this.doubt = Math.min(LONGEST_DOUBT, Math.max(DOUBT, 2 * this.doubt));
		this.doubtedUntil = now + this.doubt;
		this.announced = new AnnouncedRate(this.share);
		if (this.learner != null) {
			this.learner.withdraw(this.configured);
		}
	}

	/**
	 * Sets the configured limit anew.
	 * @param limit the limit, or {@code null} for none
	 * @param now the clock
	 */
	void configure(@Nullable Limit limit, long now) {
		this.configured = limit;
		Bucket bucket = this.bucket;
		if (this.learner != null) {
			this.learner.configure(limit, now);
			shape(this.learner, now);
		}
		else if (limit == null) {
			this.bucket = null;
		}
		else if (bucket != null) {
			bucket.reshape(limit.perSecond(), limit.capacity(), now);
		}
		else {
			this.bucket = new Bucket(limit.perSecond(), limit.capacity(), this.margin, now);
		}
	}

}
