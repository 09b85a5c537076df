package dev.llmresilience.limiter;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * A place in the queue of a {@link RateLimiter}. Its state is changed only under the
 * limiter's lock, exactly once after {@link State#WAITING}, and may be read from any
 * thread.
 */
public final class Ticket {

	private static final Log logger = LogFactory.getLog(Ticket.class);

	private final Permit permit;

	private final boolean retry;

	private final Runnable listener;

	private final long neededNanos;

	private final long patienceNanos;

	private volatile State state;

	Ticket(State state, Permit permit, boolean retry, long neededNanos, long patienceNanos, Runnable listener) {
		this.state = state;
		this.permit = permit;
		this.retry = retry;
		this.neededNanos = neededNanos;
		this.patienceNanos = patienceNanos;
		this.listener = listener;
	}

	/**
	 * What has become of the place.
	 * @return the state
	 */
	public State state() {
		return this.state;
	}

	/**
	 * The wait that the place meant when it was asked for.
	 * @return nanoseconds
	 */
	public long neededNanos() {
		return this.neededNanos;
	}

	/**
	 * How long its owner may wait: until the deadline of the call, or for the longest
	 * wait allowed. A pause can move a turn beyond that after the place was given.
	 * @return nanoseconds from when the place was asked for
	 */
	public long patienceNanos() {
		return this.patienceNanos;
	}

	Permit permit() {
		return this.permit;
	}

	boolean isRetry() {
		return this.retry;
	}

	boolean isWaiting() {
		return this.state == State.WAITING;
	}

	void become(State state) {
		this.state = state;
	}

	void notifyOwner() {
		try {
			this.listener.run();
		}
		catch (RuntimeException | Error ex) {
			// It must cost neither the others their turn nor whoever made room its own.
			logger.error("A call that waited for its turn could not be woken", ex);
		}
	}

	/**
	 * What can become of a place.
	 */
	public enum State {

		/** Still in the queue. */
		WAITING,

		/** The call may leave; what it needs is taken. */
		GRANTED,

		/** Its owner left before its turn. */
		LEFT,

		/** Refused: its turn would have come after the call's deadline. */
		REFUSED_DEADLINE,

		/** Refused: its turn would have come later than the longest wait allowed. */
		REFUSED_MAX_WAIT,

		/** Refused: as many calls as allowed were waiting already. */
		REFUSED_MAX_WAITING,

		/** Refused: it is larger than the whole limit, so its turn would never come. */
		REFUSED_TOO_LARGE,

		/** Refused: the circuit breaker opened. */
		REFUSED_BREAKER,

		/** Refused: the limiter was closed. */
		REFUSED_CLOSED

	}

}
