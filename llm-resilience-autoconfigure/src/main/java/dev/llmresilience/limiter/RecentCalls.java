package dev.llmresilience.limiter;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Numbers the calls that are sent, and knows how many were accepted in each of the last
 * seconds. Sending is lock-free and costs one addition; a call that is the first of its
 * second also notes where that began, and two that race there lose a call at worst.
 */
final class RecentCalls {

	/** A second here is 2^30 nanoseconds. */
	private static final int SECOND = 30;

	private static final int SECONDS = 16;

	private static final int LOOK_BACK = 10;

	private final AtomicLong sent = new AtomicLong();

	private volatile long latest = Long.MIN_VALUE;

	/** By second: which one it is, the number of its first call, and its rejections. */
	private final long[] seconds = new long[SECONDS];

	private final long[] first = new long[SECONDS];

	private final long[] rejected = new long[SECONDS];

	/**
	 * Counts a call.
	 * @param now the clock
	 * @return its number, 1 for the first
	 */
	long send(long now) {
		long number = this.sent.incrementAndGet();
		long second = now >> SECOND;
		if (second != this.latest) {
			int place = place(second);
			this.seconds[place] = second;
			this.first[place] = number;
			this.rejected[place] = 0;
			this.latest = second;
		}
		return number;
	}

	/**
	 * Takes a call back that was rejected.
	 * @param sentAt when it was sent
	 */
	void reject(long sentAt) {
		long second = sentAt >> SECOND;
		if (this.seconds[place(second)] == second) {
			this.rejected[place(second)]++;
		}
	}

	/**
	 * The most calls that were accepted in one of the last ten seconds.
	 * @param now the clock
	 * @return the number
	 */
	double peak(long now) {
		long second = now >> SECOND;
		long end = this.sent.get() + 1;
		long peak = 0;
		for (long back = second; back > second - LOOK_BACK; back--) {
			int place = place(back);
			if (this.seconds[place] == back && this.first[place] > 0) {
				peak = Math.max(peak, end - this.first[place] - this.rejected[place]);
				end = this.first[place];
			}
		}
		return peak;
	}

	private static int place(long second) {
		return (int) second & (SECONDS - 1);
	}

}
