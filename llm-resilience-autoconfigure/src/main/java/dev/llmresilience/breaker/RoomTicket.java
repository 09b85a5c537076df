package dev.llmresilience.breaker;

import org.jspecify.annotations.Nullable;

/**
 * A place in a {@link WaitingRoom}. Its state is changed under the room's lock, and may
 * be read from any thread.
 */
public final class RoomTicket {

	final long number;

	final long deadline;

	final Runnable listener;

	volatile State state = State.WAITING;

	/** When it was let in, and what the breaker was then. */
	@Nullable Generation era;

	long since;

	RoomTicket(long number, long deadline, Runnable listener) {
		this.number = number;
		this.deadline = deadline;
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
	 * What can become of a place.
	 */
	public enum State {

		/** Still in the room. */
		WAITING,

		/** The call may go on and ask the breaker for a permit. */
		ADMITTED,

		/** The call that was let in has reported its end. */
		ENDED,

		/** Its owner left before its turn. */
		LEFT,

		/** Its deadline passed before its turn. */
		EXPIRED,

		/** Refused: the room was closed. */
		REFUSED_CLOSED

	}

}
