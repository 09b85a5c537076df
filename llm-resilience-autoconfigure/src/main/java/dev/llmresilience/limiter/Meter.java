package dev.llmresilience.limiter;

import java.util.concurrent.atomic.AtomicLong;

import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * One thing that the provider limits, calls or tokens of a kind: the bucket that calls
 * take from, and what is known of the provider's.
 * <p>
 * {@link #take}, {@link #onSend} and {@link #onEnd} are lock-free; everything else is
 * called under the limiter's lock.
 */
final class Meter {

	/** An estimate may be so far below what a call uses. */
	private static final double DOUBTFUL = 2;

	/** Calls that were not counted have ended after so long, in nanoseconds. */
	private static final long UNCOUNTED = 60_000_000_000L;

	private final Dimension dimension;

	private final int index;

	private final Pace pace;

	/** What estimates are worth, or {@code null} where calls are counted. */
	private final @Nullable TokenScale scale;

	private final RecentCalls calls = new RecentCalls();

	private final EndedCalls ended;

	/** The cost of the counted calls that have not ended. */
	private final AtomicLong inFlight = new AtomicLong();

	/**
	 * Whether calls are numbered. At a configured rate that nothing contradicts they need
	 * not be: all that were sent before the first rejection count as one moment.
	 */
	private volatile boolean counting;

	private long countingSince;

	/** Whether this is what the first in line waits for. */
	private boolean holding;

	/**
	 * Creates a meter whose bucket is full.
	 * @param dimension what is limited
	 * @param index its place in a permit, 0 for calls
	 * @param configured the configured limit, or {@code null} for none
	 * @param settings the limiter's settings
	 * @param now the clock
	 */
	Meter(Dimension dimension, int index, @Nullable Limit configured, LimiterSettings settings, long now) {
		Long tokens = settings.tokens().defaultTokens();
		this.dimension = dimension;
		this.index = index;
		this.scale = (dimension != Dimension.REQUESTS) ? new TokenScale((tokens != null) ? tokens : 0) : null;
		this.pace = new Pace(configured, settings, typical(), now);
		this.counting = (configured == null) ? this.pace.learns() && this.scale == null : this.scale != null;
		this.countingSince = now - UNCOUNTED;
		this.ended = new EndedCalls(now);
	}

	Pace pace() {
		return this.pace;
	}

	/** The cost of what is under way, or {@code null} where nobody counts that. */
	@Nullable Long inFlight() {
		return this.counting ? Math.max(0, this.inFlight.get()) : null;
	}

	Dimension dimension() {
		return this.dimension;
	}

	/** Whether a call has anything to do with it at present. */
	boolean isWorking() {
		return this.counting || isActive();
	}

	boolean isActive() {
		return this.pace.bucket() != null;
	}

	boolean learns() {
		return this.pace.learns();
	}

	/** What a typical call costs. */
	double typical() {
		return (this.scale != null) ? this.scale.unit() : 1;
	}

	private double cost(Permit permit) {
		return (this.scale != null) ? permit.tokens * this.scale.factor() : 1;
	}

	/** What stays in the bucket because estimates in flight are not settled yet. */
	private double reserve() {
		TokenScale scale = this.scale;
		return (scale != null) ? scale.reserve(this.inFlight.get()) : 0;
	}

	/**
	 * Takes what a call costs.
	 * @param permit the call
	 * @param waited whether it has waited for its turn
	 * @param now the clock
	 * @return whether it may leave as far as this limit goes
	 */
	boolean take(Permit permit, boolean waited, long now) {
		Bucket bucket = this.pace.bucket();
		if (bucket == null) {
			return true;
		}
		TokenScale scale = this.scale;
		if (scale == null) {
			boolean taken = bucket.take(1, 0, waited && this.holding, now);
			if (taken) {
				permit.charge(this.index, 1);
			}
			return taken;
		}
		double capacity = bucket.capacity();
		if (!waited && isTooLarge(permit, capacity)) {
			return false;
		}
		double cost = cost(permit);
		// Math.min would keep the compare-and-set below waiting for both.
		if (cost > capacity) {
			cost = capacity;
		}
		boolean held = waited && this.holding;
		boolean taken = bucket.take(cost, scale.reserveAtMost(this.inFlight.get()), held, now)
				|| bucket.take(cost, reserve(), held, now);
		if (taken) {
			permit.charge(this.index, cost);
		}
		return taken;
	}

	/**
	 * Puts back what a call has taken with which no request was sent.
	 * @param permit the call
	 * @param now the clock
	 */
	void putBack(Permit permit, long now) {
		Bucket bucket = this.pace.bucket();
		double charged = permit.charged(this.index);
		permit.charge(this.index, 0);
		if (bucket != null && charged > 0) {
			bucket.settle(charged, now);
		}
	}

	void onSend(Permit permit, long now) {
		if (this.counting) {
			long cost = Math.round((this.scale != null) ? permit.charged(this.index) : 1);
			permit.number(this.index, this.calls.send(cost, now));
			this.inFlight.addAndGet(cost);
		}
	}

	/**
	 * The request of a call has ended.
	 * @param permit the call
	 * @param time the clock
	 * @return whether the bucket refills sooner now
	 */
	boolean onEnd(Permit permit, TimeSource time) {
		if (permit.number(this.index) > 0) {
			this.inFlight.addAndGet(-Math.round((this.scale != null) ? permit.charged(this.index) : 1));
		}
		Bucket bucket = this.pace.bucket();
		return bucket != null && bucket.heedsAnswer(permit.sent) && bucket.answered(permit.sent, time.nanoTime());
	}

	/**
	 * Corrects what a call was charged by what it has used.
	 * @param permit the call
	 * @param usage its usage
	 * @param now the clock
	 */
	void settle(Permit permit, TokenUsage usage, long now) {
		double used = switch (this.dimension) {
			case REQUESTS -> 1;
			case TOKENS -> usage.total();
			case INPUT_TOKENS -> usage.input();
			case OUTPUT_TOKENS -> usage.output();
		};
		if (this.scale == null) {
			return;
		}
		this.scale.settle(permit.tokens, used);
		correct(permit, used, now);
	}

	/** A call turned out to use so much, for certain. */
	private void correct(Permit permit, double used, long now) {
		Bucket bucket = this.pace.bucket();
		if (bucket == null || permit.number(this.index) == 0) {
			return;
		}
		double difference = used - permit.charged(this.index);
		bucket.settle(-difference, now);
		this.pace.settle(permit.number(this.index), difference, typical());
	}

	/** A call was rejected for another limit, or failed before it used anything. */
	void unused(Permit permit, long now) {
		Bucket bucket = this.pace.bucket();
		double charged = permit.charged(this.index);
		if (bucket == null || charged == 0) {
			return;
		}
		bucket.settle(charged, now);
		this.pace.settle(permit.number(this.index), -charged, typical());
	}

	/**
	 * How full the bucket is.
	 * @param now the clock
	 * @return the share of its capacity, 1 where every call passes
	 */
	double fullness(long now) {
		Bucket bucket = this.pace.bucket();
		return (bucket != null) ? bucket.level(now) / bucket.capacity() : 1;
	}

	/** The most that there can be, infinite where every call passes. */
	double capacity() {
		Bucket bucket = this.pace.bucket();
		return (bucket != null) ? bucket.capacity() : Double.POSITIVE_INFINITY;
	}

	double level(long now) {
		Bucket bucket = this.pace.bucket();
		return (bucket != null) ? bucket.level(now) : Double.POSITIVE_INFINITY;
	}

	/**
	 * Whether there was not enough left for a call that was rejected.
	 * @param snapshot what the response said about this limit
	 * @param permit the call
	 * @return the part of what the call needs that was left; from 1 on, it was enough
	 */
	double coverage(RateLimitSnapshot snapshot, Permit permit) {
		double needed = Math.max(1, cost(permit));
		return snapshot.remaining() / ((this.scale != null) ? DOUBTFUL * needed : needed);
	}

	/** Whether a call wants more than there can ever be. */
	boolean isTooLarge(Permit permit) {
		Bucket bucket = this.pace.bucket();
		return bucket != null && isTooLarge(permit, bucket.capacity());
	}

	private boolean isTooLarge(Permit permit, double capacity) {
		return permit.tokens > capacity && this.dimension == Dimension.TOKENS && this.pace.isSized();
	}

	/**
	 * When a call could leave that has others before it.
	 * @param permit the call
	 * @param ahead those before it
	 * @param now the clock
	 * @return the moment; now, if it could leave already
	 */
	long freeAt(Permit permit, WaitingLine.Ahead ahead, long now) {
		Bucket bucket = this.pace.bucket();
		if (bucket == null) {
			return now;
		}
		double before = (this.scale != null) ? ahead.tokens() * this.scale.factor() : ahead.calls();
		return bucket.freeAt(before, cost(permit), reserve(), now);
	}

	/**
	 * How long it takes until the bucket is full.
	 * @param now the clock
	 * @return nanoseconds, without end where every call passes
	 */
	long missing(long now) {
		Bucket bucket = this.pace.bucket();
		return (bucket != null) ? bucket.missing(now) : Long.MAX_VALUE;
	}

	void holds(boolean holding) {
		this.holding = holding;
	}

	/**
	 * Lets the pace follow what is known by now.
	 * @param idle whether nobody waits here or stays away after a rejection
	 * @param now the clock
	 */
	void adjust(boolean idle, long now) {
		this.pace.adjust(this.holding, idle, now);
	}

	/**
	 * Learns from a rejection because of this limit.
	 * @param permit the call
	 * @param hintNanos what the provider said, or -1
	 * @param silenceNanos the pause where it said nothing
	 * @param now the clock
	 * @return what to do
	 */
	Reaction rejected(Permit permit, long hintNanos, long silenceNanos, long now) {
		count(now);
		long cost = Math.round((this.scale != null) ? permit.charged(this.index) : 1);
		this.calls.reject(cost, permit.sent);
		Sent sent = new Sent(permit.sent, permit.number(this.index), (double) cost);
		return this.pace.rejected(sent, hintNanos, silenceNanos, this.calls.peak(now), typical(), now);
	}

	private void count(long now) {
		if (!this.counting) {
			this.counting = true;
			this.countingSince = now;
		}
	}

	void pause(long until) {
		Bucket bucket = this.pace.bucket();
		if (bucket != null) {
			bucket.pause(until, typical());
		}
	}

	/**
	 * Follows what a response said about this limit.
	 * @param snapshot what it said
	 * @param sent when its request was sent
	 * @param rejected whether the request was rejected, so that no room is proven
	 * @param now the clock
	 */
	void announce(RateLimitSnapshot snapshot, long sent, boolean rejected, long now) {
		count(now);
		Bucket bucket = this.pace.bucket();
		boolean paused = bucket != null && bucket.isPaused(now);
		boolean provesLeast = !rejected && !paused && sent - this.countingSince >= UNCOUNTED;
		long all = this.calls.sent();
		long ended = this.ended.when(sent, all - this.inFlight.get(), now);
		// What was answered since then may have overtaken the request. That itself
		// counts.
		double others = Math.max(0, all - ended - typical());
		this.pace.announce(snapshot, sent, provesLeast ? others : Double.POSITIVE_INFINITY, now);
	}

	/**
	 * Sets the configured limit anew.
	 * @param limit the limit, or {@code null} for none
	 * @param now the clock
	 */
	void configure(@Nullable Limit limit, long now) {
		if ((limit == null) ? learns() && this.scale == null : this.scale != null) {
			count(now);
		}
		this.pace.configure(limit, now);
	}

	void startOver(long now) {
		this.pace.startOver(typical(), now);
	}

	/**
	 * The rate at present.
	 * @return units a second, or {@code null} if every call passes
	 */
	@Nullable Double perSecond() {
		Bucket bucket = this.pace.bucket();
		return (bucket != null) ? bucket.perSecond() : null;
	}

	/**
	 * Lowers the level at the start.
	 * @param level the share of the capacity that is there
	 * @param now the clock
	 */
	void startAt(double level, long now) {
		Bucket bucket = this.pace.bucket();
		if (bucket != null) {
			bucket.clamp(0, level * bucket.capacity(), now);
		}
	}

}
