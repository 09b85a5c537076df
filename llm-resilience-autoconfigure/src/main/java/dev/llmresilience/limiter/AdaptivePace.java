package dev.llmresilience.limiter;

import dev.llmresilience.limiter.PaceLearner.Reaction;
import dev.llmresilience.limiter.PaceLearner.Sent;
import org.jspecify.annotations.Nullable;

/**
 * The pace of a limiter that learns: what it learns from, and the bucket that follows.
 * All but {@link #send} is called under the limiter's lock.
 */
final class AdaptivePace {

	private static final double SECONDS_PER_MINUTE = 60;

	private final long margin;

	private final RecentCalls calls = new RecentCalls();

	private final PaceLearner learner;

	/**
	 * Whether calls are numbered. At a configured rate that nothing contradicts they need
	 * not be: all that were sent before the first rejection count as one moment.
	 */
	private volatile boolean counting;

	/** Calls that were rejected and will be back. */
	private int away;

	/** When the pace last had a chance to grow. */
	private long adjustedAt;

	AdaptivePace(LimiterSettings settings, long now) {
		Double perMinute = settings.requestsPerMinute();
		this.margin = settings.networkMargin().toNanos();
		this.learner = new PaceLearner((perMinute != null) ? perMinute / SECONDS_PER_MINUTE : null, settings.burst(),
				this.margin, now);
		this.counting = perMinute == null;
		this.adjustedAt = now;
	}

	/**
	 * Numbers a call that is being sent. Lock-free.
	 * @param now the clock
	 * @return its number, 0 while there is no need to count
	 */
	long send(long now) {
		return this.counting ? this.calls.send(now) : 0;
	}

	/**
	 * The pace.
	 * @return calls a minute, or {@code null} while every call passes
	 */
	@Nullable Double perMinute() {
		return this.learner.isTransparent() ? null : this.learner.pace() * SECONDS_PER_MINUTE;
	}

	/**
	 * Until when nothing leaves.
	 * @return the moment, in the past if there is no pause
	 */
	long pausedUntil() {
		return this.learner.pausedUntil();
	}

	/**
	 * Learns from a rejection. The call is away until it is {@link #back}.
	 * @param sent when it was sent
	 * @param number its number
	 * @param hintNanos what the provider said, or -1
	 * @param silenceNanos the pause where it said nothing
	 * @param now the clock
	 * @return what to do
	 */
	Reaction rejected(long sent, long number, long hintNanos, long silenceNanos, long now) {
		this.away++;
		this.counting = true;
		this.calls.reject(sent);
		return this.learner.rejected(new Sent(sent, number), hintNanos, silenceNanos, this.calls.peak(now), now);
	}

	void back() {
		this.away--;
	}

	/**
	 * Lets the pace follow what is known by now.
	 * @param bucket the bucket, or {@code null} while every call passes
	 * @param anyoneWaits whether somebody waits for a slot
	 * @param now the clock
	 * @return the bucket of the pace
	 */
	@Nullable Bucket adjust(@Nullable Bucket bucket, boolean anyoneWaits, long now) {
		boolean changed = anyoneWaits ? this.learner.grow(now, this.adjustedAt)
				: this.away == 0 && this.learner.relax(now);
		this.adjustedAt = now;
		return changed ? shape(bucket, now) : bucket;
	}

	/**
	 * Gives a bucket the learnt pace.
	 * @param bucket the bucket, or {@code null} while every call passes
	 * @param now the clock
	 * @return the bucket, or {@code null} while every call passes
	 */
	@Nullable Bucket shape(@Nullable Bucket bucket, long now) {
		if (this.learner.isTransparent()) {
			return null;
		}
		long interval = Bucket.interval(this.learner.pace());
		if (bucket == null) {
			return new Bucket(interval, this.learner.capacity(), this.margin, now);
		}
		bucket.reshape(interval, this.learner.capacity(), now);
		return bucket;
	}

}
