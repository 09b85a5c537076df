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

	private final long expiresAt;

	/** What becomes of it then. */
	private final State whenExpired;

	private volatile State state;

	/**
	 * Creates a ticket.
	 * @param state what has become of it already, or {@link State#WAITING}
	 * @param permit the call
	 * @param retry whether the call is a retry
	 * @param neededNanos how long it would have to wait, by what is known
	 * @param expiresAt until when it may wait, on the monotonic clock
	 * @param whenExpired what becomes of it then
	 * @param listener is told when it is no longer waiting
	 */
	Ticket(State state, Permit permit, boolean retry, long neededNanos, long expiresAt, State whenExpired,
			Runnable listener) {
		this.state = state;
		this.permit = permit;
		this.retry = retry;
		this.neededNanos = neededNanos;
		this.expiresAt = expiresAt;
		this.whenExpired = whenExpired;
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
	 * The wait that the place meant when it was asked for. A pause can make it longer.
	 * @return nanoseconds
	 */
	public long neededNanos() {
		return this.neededNanos;
	}

	/** Until when it may wait, on the monotonic clock. */
	long expiresAt() {
		return this.expiresAt;
	}

	State whenExpired() {
		return this.whenExpired;
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

		/** Refused: its turn would not come, or has not come, by the call's deadline. */
		REFUSED_DEADLINE,

		/** Refused: its turn would not come, or has not come, within the longest wait. */
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
