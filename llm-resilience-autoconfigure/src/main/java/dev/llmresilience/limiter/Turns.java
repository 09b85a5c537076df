package dev.llmresilience.limiter;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.limiter.WaitingLine.Ahead;
import dev.llmresilience.time.TimeSource;

/**
 * Who waits, and whose turn it is: one line and one alarm for all.
 * <p>
 * Thread-safe. Invariants: line, alarm, tickets and the meters are only changed under
 * {@link #lock()}, but for what the meters give out and take back without it; whenever
 * somebody waits, the alarm is set, for the next turn or the end of a wait, and whoever
 * waits for a place in flight is served when one is given back; no owner is told anything
 * while the lock is held.
 */
final class Turns {

	/**
	 * Those who wait for a rate are let out no more often than this, where that costs
	 * nobody's pace: at many calls a second an alarm for each would keep a processor
	 * busy.
	 */
	private static final long ROUND_NANOS = 2_000_000;

	private final TimeSource time;

	private volatile LimiterSettings settings;

	private final Meters meters;

	private final ReentrantLock lock = new ReentrantLock();

	private final WaitingLine line = new WaitingLine();

	private final Alarm alarm;

	/** Calls that were rejected and will be back. */
	private int away;

	private volatile boolean closed;

	/** When somebody who waited was last let out. */
	private long servedAt;

	/**
	 * Creates an empty line.
	 * @param meters what there is to wait for
	 * @param settings how long may be waited
	 * @param time clock and timer
	 */
	Turns(Meters meters, LimiterSettings settings, TimeSource time) {
		this.meters = meters;
		this.settings = settings;
		this.time = time;
		this.alarm = new Alarm(time, this::onAlarm);
		this.servedAt = time.nanoTime() - ROUND_NANOS;
	}

	void settings(LimiterSettings settings) {
		this.settings = settings;
	}

	ReentrantLock lock() {
		return this.lock;
	}

	int waiting() {
		return this.line.length();
	}

	/**
	 * Whether a call may take what it needs without a turn: nobody waits, or whoever
	 * waits for a place in flight may be waiting for this very call to end.
	 * @param permit the call
	 * @return whether it may
	 */
	boolean mayTry(Permit permit) {
		return !this.closed && (this.line.length() == 0 || permit.isNested());
	}

	/**
	 * Lets a call wait for its turn.
	 * @param permit the call
	 * @param now the clock
	 * @param deadline the latest moment at which leaving makes sense
	 * @param retry whether the call is a retry
	 * @param listener is told when the ticket is no longer waiting
	 * @return the ticket: granted, refused or waiting
	 */
	Ticket join(Permit permit, long now, long deadline, boolean retry, Runnable listener) {
		this.lock.lock();
		try {
			if (this.closed) {
				return ticket(State.REFUSED_CLOSED, permit, listener);
			}
			adjust(now);
			this.meters.estimate(permit);
			if (this.meters.isTooLarge(permit)) {
				return ticket(State.REFUSED_TOO_LARGE, permit, listener);
			}
			if (mayTry(permit) && this.meters.take(permit, false, now)) {
				return ticket(State.GRANTED, permit, listener);
			}
			long needed = this.meters.freeAt(permit, this.line.ahead(permit, retry), now) - now;
			long left = deadline - now;
			State state = this.settings.refusal(needed, left, this.line.length());
			long patience = this.settings.patience(left);
			State whenExpired = (patience < left) ? State.REFUSED_MAX_WAIT : State.REFUSED_DEADLINE;
			if (state == State.WAITING && patience <= 0) {
				state = whenExpired;
			}
			Ticket ticket = new Ticket(state, permit, retry, needed, now + patience, whenExpired, listener);
			if (state == State.WAITING) {
				this.line.add(ticket);
				setAlarm();
			}
			return ticket;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** One that does not wait. */
	private static Ticket ticket(State state, Permit permit, Runnable listener) {
		return new Ticket(state, permit, false, 0, 0, state, listener);
	}

	/**
	 * Leaves the line.
	 * @param ticket the ticket
	 * @return whether it was waiting
	 */
	boolean leave(Ticket ticket) {
		boolean left;
		this.lock.lock();
		try {
			boolean first = ticket == this.line.peek();
			left = this.line.leave(ticket);
			if (!first) {
				return left;
			}
		}
		finally {
			this.lock.unlock();
		}
		serve();
		return left;
	}

	void close() {
		this.closed = true;
		refuse((ticket) -> true, State.REFUSED_CLOSED);
	}

	/**
	 * Refuses those who wait.
	 * @param which whom
	 * @param state what becomes of them
	 */
	void refuse(Predicate<Ticket> which, State state) {
		List<Ticket> refused;
		this.lock.lock();
		try {
			refused = this.line.refuse(which, state);
		}
		finally {
			this.lock.unlock();
		}
		refused.forEach(Ticket::notifyOwner);
		serve();
	}

	/** A call was rejected and will be back. Called under the lock. */
	void away(Permit permit) {
		if (!permit.away) {
			permit.away = true;
			this.away++;
		}
	}

	/** A call that was rejected is back. */
	void back(Permit permit) {
		if (permit.away) {
			permit.away = false;
			this.lock.lock();
			try {
				this.away--;
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	/** Lets the paces follow what is known by now. Called under the lock. */
	void adjust(long now) {
		this.meters.adjust(this.line.length() == 0 && this.away == 0, now);
	}

	/**
	 * Sets the alarm for whoever is next, or has waited long enough before that. For a
	 * place in flight nobody needs one: a place that is taken comes back.
	 */
	private void setAlarm() {
		long now = this.time.nanoTime();
		Ticket next = this.line.peek();
		if (next == null) {
			this.meters.holdNobody();
			this.alarm.clear();
			return;
		}
		long at = this.meters.freeAt(next.permit(), Ahead.NOBODY, now);
		this.meters.hold(next.permit(), at, now);
		long alarm = this.line.expiresAt();
		if (at - now > 0 || next.permit().hasPlace() || !this.meters.places().areFull()) {
			long round = roundAfter(at);
			alarm = (round - alarm < 0) ? round : alarm;
		}
		this.alarm.set(alarm, now);
	}

	/**
	 * When to let out somebody together with those who follow.
	 * @param at when it could leave
	 * @return that moment, or one shortly after it at which no bucket is full yet
	 */
	private long roundAfter(long at) {
		long round = this.servedAt + ROUND_NANOS - at;
		return (round > 0) ? at + Math.min(round, this.meters.spare(at)) : at;
	}

	private void onAlarm(long setting) {
		this.lock.lock();
		try {
			this.alarm.gone(setting);
		}
		finally {
			this.lock.unlock();
		}
		serve();
	}

	/** Lets out all whose turn has come, if anybody waits. */
	void serveIfAnybodyWaits() {
		if (this.line.length() > 0) {
			serve();
		}
	}

	/** Lets out all whose turn has come, and then refuses whose time is over. */
	private void serve() {
		List<Ticket> told = new ArrayList<>();
		this.lock.lock();
		try {
			long now = this.time.nanoTime();
			adjust(now);
			do {
				grant(told, now);
			}
			while (this.line.expire(told, now));
			setAlarm();
		}
		finally {
			this.lock.unlock();
			// Whatever happened: nobody else would tell them.
			told.forEach(Ticket::notifyOwner);
		}
	}

	private void grant(List<Ticket> granted, long now) {
		Ticket next = this.line.peek();
		while (next != null && this.meters.take(next.permit(), true, now)) {
			this.line.grant(next);
			granted.add(next);
			this.servedAt = now;
			next = this.line.peek();
		}
	}

}
