package dev.llmresilience.engine;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import dev.llmresilience.engine.Flight.Share.State;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * A call under way, and those who share it.
 * <p>
 * Thread-safe. Invariants: {@code shares} are those who share the call, in the order in
 * which they came; they change only under the lock, the first of them leads, and nobody
 * else does. The flight is over once nobody is left or its leader has reported; then
 * nobody can join it. No owner is told anything while the lock is held.
 */
final class Flight {

	private static final Log logger = LogFactory.getLog(Flight.class);

	private final InFlight.Key key;

	private final Consumer<Flight> whenOver;

	private final ReentrantLock lock = new ReentrantLock();

	private final Set<Share> shares = new LinkedHashSet<>();

	private boolean over;

	/**
	 * Creates a flight that nobody shares yet.
	 * @param key which calls can share it
	 * @param whenOver is told when it is over, on any thread
	 */
	Flight(InFlight.Key key, Consumer<Flight> whenOver) {
		this.key = key;
		this.whenOver = whenOver;
	}

	InFlight.Key key() {
		return this.key;
	}

	/**
	 * Joins, and leads if nobody does.
	 * @param listener as for {@link InFlight#join}
	 * @return the share, or {@code null} if it is over
	 */
	@Nullable Share join(Runnable listener) {
		this.lock.lock();
		try {
			if (this.over) {
				return null;
			}
			Share share = new Share(this, this.shares.isEmpty() ? State.LEADING : State.FOLLOWING, listener);
			this.shares.add(share);
			return share;
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean land(Share leader, State state, @Nullable Object result, @Nullable Throwable failure) {
		List<Share> told;
		this.lock.lock();
		try {
			if (leader.state != State.LEADING) {
				return false;
			}
			this.over = true;
			told = new ArrayList<>(this.shares);
			told.forEach((share) -> share.settle(state, result, failure));
			told.remove(leader);
			this.shares.clear();
		}
		finally {
			this.lock.unlock();
		}
		this.whenOver.accept(this);
		told.forEach(Share::tell);
		return true;
	}

	private boolean leave(Share share) {
		Share next = null;
		boolean last;
		this.lock.lock();
		try {
			if (!this.shares.remove(share)) {
				return false;
			}
			boolean led = share.state == State.LEADING;
			share.state = State.LEFT;
			last = this.shares.isEmpty();
			if (last) {
				this.over = true;
			}
			else if (led) {
				next = this.shares.iterator().next();
				next.state = State.LEADING;
			}
		}
		finally {
			this.lock.unlock();
		}
		if (last) {
			this.whenOver.accept(this);
		}
		if (next != null) {
			next.tell();
		}
		return true;
	}

	/**
	 * What one call has of a flight. Its state is changed under the flight's lock, and
	 * may be read from any thread.
	 */
	static final class Share {

		private final Flight flight;

		private final Runnable listener;

		private final boolean first;

		private @Nullable Object result;

		private @Nullable Throwable failure;

		/** Written after the outcome, and so publishes it. */
		private volatile State state;

		private Share(Flight flight, State state, Runnable listener) {
			this.flight = flight;
			this.state = state;
			this.first = state == State.LEADING;
			this.listener = listener;
		}

		/** Whether it has led from the beginning, so that its listener is never told. */
		boolean isFirst() {
			return this.first;
		}

		/**
		 * What has become of the share.
		 * @return the state
		 */
		State state() {
			return this.state;
		}

		/**
		 * Which calls it is shared with.
		 * @return the key
		 */
		InFlight.Key key() {
			return this.flight.key;
		}

		/**
		 * What the call returned, for one that succeeded: the same object for all.
		 * @return the result
		 */
		@Nullable Object result() {
			return this.result;
		}

		/**
		 * What the call threw, for one that failed: the same object for all. So whoever
		 * adds to it, adds to everybody's.
		 * @return the failure, or {@code null} if there is none
		 */
		@Nullable Throwable failure() {
			return this.failure;
		}

		/**
		 * The leader's call succeeded: all have the result. A report by one that does not
		 * lead, or not any more, changes nothing.
		 * @param result what it returned
		 * @return whether it was the leader's
		 */
		boolean succeeded(@Nullable Object result) {
			return this.flight.land(this, State.SUCCEEDED, result, null);
		}

		/**
		 * The provider failed the leader's call: all have the failure. For one that says
		 * nothing to the others, use {@link #leave()}.
		 * @param failure what it threw
		 * @return whether it was the leader's
		 */
		boolean failed(Throwable failure) {
			return this.flight.land(this, State.FAILED, null, failure);
		}

		/**
		 * Goes away: cancelled, out of time, or refused on this side. If it leads, the
		 * longest follower leads from now on; that may have happened to this one the
		 * moment before.
		 * @return whether it was still there; if not, its state says what became of it
		 */
		boolean leave() {
			return this.flight.leave(this);
		}

		private void settle(State state, @Nullable Object result, @Nullable Throwable failure) {
			this.result = result;
			this.failure = failure;
			this.state = state;
		}

		private void tell() {
			try {
				this.listener.run();
			}
			catch (RuntimeException | Error ex) {
				// It must not cost the other followers the outcome.
				logger.error("A call that followed an equal one could not be woken", ex);
			}
		}

		/**
		 * What can become of a share.
		 */
		enum State {

			/** It makes the call, and has to report what becomes of it. */
			LEADING,

			/** It waits for what becomes of the leader's call. */
			FOLLOWING,

			/** The call has a result. */
			SUCCEEDED,

			/** The call has failed. */
			FAILED,

			/** Its owner has gone away. */
			LEFT

		}

	}

}
