package dev.llmresilience.limiter;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import dev.llmresilience.limiter.Ticket.State;
import org.jspecify.annotations.Nullable;

/**
 * Those who wait for a slot: retries before newcomers, and within each in the order of
 * arrival. Changed under the limiter's lock; its length can be read without it.
 * Invariant: the length is the number of tickets that are still waiting; one that left
 * stays as a blank and is skipped at its turn.
 */
final class WaitingLine {

	private final Deque<Ticket> retries = new ArrayDeque<>();

	private final Deque<Ticket> newcomers = new ArrayDeque<>();

	private int waitingRetries;

	private int waitingNewcomers;

	private volatile int length;

	int length() {
		return this.length;
	}

	/**
	 * How many would be before a call that joined now.
	 * @param retry whether it is a retry
	 * @return the number
	 */
	int ahead(boolean retry) {
		return retry ? this.waitingRetries : this.length;
	}

	void add(Ticket ticket, boolean retry) {
		(retry ? this.retries : this.newcomers).add(ticket);
		count(retry, 1);
	}

	/**
	 * Lets a ticket leave before its turn.
	 * @param ticket the ticket
	 * @param retry whether it was added as a retry
	 * @return whether it was waiting
	 */
	boolean leave(Ticket ticket, boolean retry) {
		if (!ticket.isWaiting()) {
			return false;
		}
		ticket.become(State.LEFT);
		count(retry, -1);
		return true;
	}

	/**
	 * Grants the first in line.
	 * @return its ticket, or {@code null} if nobody waits
	 */
	@Nullable Ticket grant() {
		Ticket ticket = poll(this.retries);
		boolean retry = ticket != null;
		if (ticket == null) {
			ticket = poll(this.newcomers);
		}
		if (ticket != null) {
			ticket.become(State.GRANTED);
			count(retry, -1);
		}
		return ticket;
	}

	/**
	 * Refuses all.
	 * @param state what becomes of them
	 * @return their tickets
	 */
	List<Ticket> refuse(State state) {
		List<Ticket> refused = new ArrayList<>(this.retries);
		refused.addAll(this.newcomers);
		refused.removeIf((ticket) -> !ticket.isWaiting());
		refused.forEach((ticket) -> ticket.become(state));
		this.retries.clear();
		this.newcomers.clear();
		count(true, -this.waitingRetries);
		count(false, -this.waitingNewcomers);
		return refused;
	}

	private static @Nullable Ticket poll(Deque<Ticket> lane) {
		Ticket ticket = lane.poll();
		while (ticket != null && !ticket.isWaiting()) {
			ticket = lane.poll();
		}
		return ticket;
	}

	private void count(boolean retry, int change) {
		if (retry) {
			this.waitingRetries += change;
		}
		else {
			this.waitingNewcomers += change;
		}
		this.length = this.waitingRetries + this.waitingNewcomers;
	}

}
