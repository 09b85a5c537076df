package dev.llmresilience.limiter;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Adds up what calls cost that are sent, and knows how much was accepted in each of the
 * last seconds. Sending is lock-free and costs one addition; a call that is the first of
 * its second also notes where that began, and two that race there lose a call at worst.
 */
final class RecentCalls {

	/** A second here is 2^30 nanoseconds. */
	private static final int SECOND = 30;

	private static final int SECONDS = 16;

	private static final int LOOK_BACK = 10;

	private final AtomicLong sent = new AtomicLong();

	private volatile long latest = Long.MIN_VALUE;

	/** By second: which one it is, the sum before its first call, and its rejections. */
	private final long[] seconds = new long[SECONDS];

	private final long[] before = new long[SECONDS];

	private final long[] rejected = new long[SECONDS];

	RecentCalls() {
		Arrays.fill(this.seconds, Long.MIN_VALUE);
	}

	/**
	 * Counts a call.
	 * @param cost what it costs
	 * @param now the clock
	 * @return its number: what all calls have cost up to it, itself included
	 */
	long send(long cost, long now) {
		long number = this.sent.addAndGet(cost);
		long second = now >> SECOND;
		if (second > this.latest) {
			int place = place(second);
			this.before[place] = number - cost;
			this.rejected[place] = 0;
			this.seconds[place] = second;
			this.latest = second;
		}
		return number;
	}

	/** What all calls have cost. */
	long sent() {
		return this.sent.get();
	}

	/**
	 * Takes a call back that was rejected.
	 * @param cost what it cost
	 * @param sentAt when it was sent
	 */
	void reject(long cost, long sentAt) {
		long second = sentAt >> SECOND;
		if (this.seconds[place(second)] == second) {
			this.rejected[place(second)] += cost;
		}
	}

	/**
	 * The most that was accepted in one of the last ten seconds.
	 * @param now the clock
	 * @return the cost of those calls
	 */
	double peak(long now) {
		long second = now >> SECOND;
		long end = this.sent.get();
		long peak = 0;
		for (long back = second; back > second - LOOK_BACK; back--) {
			int place = place(back);
			if (this.seconds[place] == back) {
				peak = Math.max(peak, end - this.before[place] - this.rejected[place]);
				end = this.before[place];
			}
		}
		return peak;
	}

	private static int place(long second) {
		return (int) second & (SECONDS - 1);
	}

}
