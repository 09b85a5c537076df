package dev.llmresilience.limiter;

/**
 * Knows what calls cost that had ended when a request was sent. Of those its response
 * knows, of all others it may not: requests overtake each other.
 * <p>
 * Not of each call is it noted when it ended, only of one moment at a time, and the next
 * one after a request was answered that was sent later. So what it says is rather too
 * little, by what ended in about a round trip.
 * <p>
 * Not thread-safe: changed under the limiter's lock. Moments are those of the monotonic
 * clock in nanoseconds.
 */
final class EndedCalls {

	/** A moment, and what had ended by then. */
	private long at;

	private long cost;

	/** The same of a later moment, for requests that are sent after it. */
	private long nextAt;

	private long nextCost;

	/**
	 * Begins to watch.
	 * @param now the clock
	 */
	EndedCalls(long now) {
		this.at = now;
		this.nextAt = now;
	}

	/**
	 * Finds out what had ended for certain when a request was sent.
	 * @param sent when it was sent
	 * @param ended the cost of all calls that have ended by now
	 * @param now the clock
	 * @return the cost
	 */
	long when(long sent, long ended, long now) {
		if (sent - this.nextAt >= 0) {
			this.at = this.nextAt;
			this.cost = this.nextCost;
			this.nextAt = now;
			this.nextCost = ended;
		}
		return (sent - this.at >= 0) ? this.cost : 0;
	}

}
