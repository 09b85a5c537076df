package dev.llmresilience.breaker;

import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

import dev.llmresilience.breaker.RoomTicket.State;

/**
 * Those who wait in a room, by their turns and by their deadlines. Changed under the
 * room's lock; its length can be read without it. Invariant: it holds the tickets that
 * are waiting, and no others.
 */
final class RoomLine {

	private final TreeSet<RoomTicket> byNumber = new TreeSet<>(
			Comparator.comparingLong((RoomTicket ticket) -> ticket.number));

	private final TreeSet<RoomTicket> byDeadline = new TreeSet<>(RoomLine::compareDeadlines);

	private volatile int length;

	private static int compareDeadlines(RoomTicket one, RoomTicket other) {
		int byTime = Long.signum(one.deadline - other.deadline);
		return (byTime != 0) ? byTime : Long.compare(one.number, other.number);
	}

	int length() {
		return this.length;
	}

	/** The one whose turn is next, where somebody waits. */
	RoomTicket first() {
		return this.byNumber.first();
	}

	/** The one whose deadline is next, where somebody waits. */
	RoomTicket mostUrgent() {
		return this.byDeadline.first();
	}

	List<RoomTicket> all() {
		return List.copyOf(this.byNumber);
	}

	void add(RoomTicket ticket) {
		this.byNumber.add(ticket);
		this.byDeadline.add(ticket);
		this.length = this.byNumber.size();
	}

	/**
	 * Takes one out.
	 * @param ticket the ticket
	 * @param state what becomes of it
	 * @return whether it was there
	 */
	boolean take(RoomTicket ticket, State state) {
		if (ticket.state != State.WAITING) {
			return false;
		}
		this.byNumber.remove(ticket);
		this.byDeadline.remove(ticket);
		this.length = this.byNumber.size();
		ticket.state = state;
		return true;
	}

}
