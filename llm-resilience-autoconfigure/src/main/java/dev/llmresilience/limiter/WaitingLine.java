package dev.llmresilience.limiter;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.function.Predicate;
import java.util.stream.Stream;

import dev.llmresilience.Priority;
import dev.llmresilience.limiter.Ticket.State;
import org.jspecify.annotations.Nullable;

/**
 * Those who wait for their turn: a lane for each priority. Within a lane retries come
 * before newcomers, the oldest call first, and newcomers in the order of arrival. Between
 * lanes turns are shared by weight, the way of stride scheduling: the lane that has had
 * the least for its weight is next, and one that was empty does not catch up.
 * <p>
 * Changed under the limiter's lock; its length can be read without it. Invariant: the
 * length is the number of tickets that are still waiting; one that left stays as a blank
 * and is skipped at its turn.
 */
final class WaitingLine {

	private static final Comparator<Ticket> BY_AGE = (one, other) -> Long.compare(one.permit().born,
			other.permit().born);

	private static final Comparator<Ticket> BY_EXPIRY = (one, other) -> Long
		.signum(one.expiresAt() - other.expiresAt());

	/** Fewer blanks than this are not worth looking for. */
	private static final int BLANKS = 64;

	private final Map<Priority, Lane> byPriority = Map.of(Priority.HIGH, new Lane(16), Priority.NORMAL, new Lane(4),
			Priority.LOW, new Lane(1));

	/**
	 * Calls whose caller holds the place in flight that others may be waiting for: always
	 * next.
	 */
	private final Lane nested = new Lane(1_000_000);

	/** The most urgent first, so that it wins a tie. */
	private final List<Lane> lanes = Stream
		.concat(Stream.of(this.nested), Stream.of(Priority.values()).map(this.byPriority::get))
		.toList();

	/** Who has waited long enough first. At most as many blanks as wait, and a few. */
	private final PriorityQueue<Ticket> expiring = new PriorityQueue<>(BY_EXPIRY);

	private volatile int length;

	/** How far the lanes have come that are not empty. */
	private double round;

	int length() {
		return this.length;
	}

	/**
	 * What would be before a call that joined now.
	 * @param permit the call
	 * @param retry whether it is a retry
	 * @return what is before it
	 */
	Ahead ahead(Permit permit, boolean retry) {
		Lane own = lane(permit);
		double calls = retry ? own.waitingRetries : own.waiting();
		double tokens = own.share(calls);
		double turns = calls + 1;
		for (Lane lane : this.lanes) {
			if (lane != own) {
				double between = Math.min(lane.waiting(), Math.floor(turns * lane.weight / own.weight));
				calls += between;
				tokens += lane.share(between);
			}
		}
		return new Ahead(calls, tokens);
	}

	void add(Ticket ticket) {
		Lane lane = lane(ticket.permit());
		if (lane.waiting() == 0) {
			lane.pass = Math.max(lane.pass, this.round);
		}
		if (ticket.isRetry()) {
			lane.retries.add(ticket);
		}
		else {
			lane.newcomers.add(ticket);
		}
		count(ticket, 1);
		this.expiring.add(ticket);
	}

	/**
	 * When somebody may have waited long enough. Only asked while somebody waits.
	 * @return a moment before which nobody has
	 */
	long expiresAt() {
		return this.expiring.element().expiresAt();
	}

	/**
	 * Refuses those who have waited long enough.
	 * @param expired gets their tickets
	 * @param now the clock
	 * @return whether there was anybody
	 */
	boolean expire(List<Ticket> expired, long now) {
		boolean any = false;
		Ticket first = this.expiring.peek();
		while (first != null && first.expiresAt() - now <= 0) {
			this.expiring.remove();
			if (first.isWaiting()) {
				end(first, first.whenExpired());
				expired.add(first);
				any = true;
			}
			first = this.expiring.peek();
		}
		return any;
	}

	/**
	 * Lets a ticket leave before its turn.
	 * @param ticket the ticket
	 * @return whether it was waiting
	 */
	boolean leave(Ticket ticket) {
		if (!ticket.isWaiting()) {
			return false;
		}
		end(ticket, State.LEFT);
		return true;
	}

	/**
	 * Finds whose turn is next.
	 * @return the ticket, or {@code null} if nobody waits
	 */
	@Nullable Ticket peek() {
		Lane next = next();
		return (next != null) ? next.peek() : null;
	}

	/**
	 * Grants the one whose turn is next.
	 * @param ticket its ticket
	 */
	void grant(Ticket ticket) {
		Lane lane = lane(ticket.permit());
		if (lane != this.nested) {
			this.round = lane.pass;
			lane.pass += 1.0 / lane.weight;
		}
		lane.poll();
		end(ticket, State.GRANTED);
	}

	/**
	 * Refuses those who wait.
	 * @param which whom
	 * @param state what becomes of them
	 * @return their tickets, in the order in which they stood
	 */
	List<Ticket> refuse(Predicate<Ticket> which, State state) {
		List<Ticket> refused = new ArrayList<>();
		for (Lane lane : this.lanes) {
			refused.addAll(lane.retries);
			refused.addAll(lane.newcomers);
		}
		refused.removeIf((ticket) -> !ticket.isWaiting() || !which.test(ticket));
		refused.forEach((ticket) -> end(ticket, state));
		return refused;
	}

	private void end(Ticket ticket, State state) {
		ticket.become(state);
		count(ticket, -1);
	}

	private void count(Ticket ticket, int change) {
		Lane lane = lane(ticket.permit());
		if (ticket.isRetry()) {
			lane.waitingRetries += change;
		}
		else {
			lane.waitingNewcomers += change;
		}
		lane.tokens += change * ticket.permit().tokens;
		if (lane.waiting() == 0) {
			lane.clear();
		}
		int waiting = 0;
		for (Lane each : this.lanes) {
			waiting += each.waiting();
		}
		this.length = waiting;
		if (waiting == 0) {
			this.expiring.clear();
		}
		else if (this.expiring.size() > 2 * waiting + BLANKS) {
			this.expiring.removeIf((each) -> !each.isWaiting());
		}
	}

	private Lane lane(Permit permit) {
		return permit.isNested() ? this.nested : Objects.requireNonNull(this.byPriority.get(permit.priority));
	}

	private @Nullable Lane next() {
		if (this.nested.waiting() > 0) {
			return this.nested;
		}
		Lane next = null;
		for (Lane lane : this.lanes) {
			if (lane.waiting() > 0 && (next == null || lane.pass < next.pass)) {
				next = lane;
			}
		}
		return next;
	}

	/**
	 * What stands before a call.
	 *
	 * @param calls how many calls
	 * @param tokens the tokens that they are estimated to use
	 */
	record Ahead(double calls, double tokens) {

		/** Nobody. */
		static final Ahead NOBODY = new Ahead(0, 0);

	}

	/** Those of one priority. */
	private static final class Lane {

		private final int weight;

		private final PriorityQueue<Ticket> retries = new PriorityQueue<>(BY_AGE);

		private final Deque<Ticket> newcomers = new ArrayDeque<>();

		private int waitingRetries;

		private int waitingNewcomers;

		private double tokens;

		/** Turns that it has had, by its weight. */
		private double pass;

		Lane(int weight) {
			this.weight = weight;
		}

		int waiting() {
			return this.waitingRetries + this.waitingNewcomers;
		}

		double share(double calls) {
			return (calls > 0) ? this.tokens * calls / waiting() : 0;
		}

		@Nullable Ticket peek() {
			clean();
			Ticket ticket = this.retries.peek();
			return (ticket != null) ? ticket : this.newcomers.peek();
		}

		void poll() {
			if (this.retries.poll() == null) {
				this.newcomers.poll();
			}
		}

		/** Nobody waits here any more, but those who left may still stand here. */
		void clear() {
			this.retries.clear();
			this.newcomers.clear();
			this.tokens = 0;
		}

		/** Drops those at the head who have left. */
		void clean() {
			Ticket ticket = this.retries.peek();
			while (ticket != null && !ticket.isWaiting()) {
				this.retries.poll();
				ticket = this.retries.peek();
			}
			ticket = this.newcomers.peek();
			while (ticket != null && !ticket.isWaiting()) {
				this.newcomers.poll();
				ticket = this.newcomers.peek();
			}
		}

	}

}
