package dev.llmresilience.breaker;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import dev.llmresilience.breaker.RoomTicket.State;
import dev.llmresilience.time.TimeSource;
import dev.llmresilience.time.TimeSource.Timer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Where calls wait for a circuit breaker that is open, instead of failing. It lets one of
 * them in when a trial is due, the next in line when that trial has failed, and once the
 * breaker has closed 1, then 2, 4, 8 ... as they succeed, until nobody waits any more.
 * Who is let in still has to ask the breaker for a permit, tells it the outcome, and then
 * {@linkplain #ended tells the room}. There is at most one room for a breaker.
 * <p>
 * Thread-safe. Invariants: everything is only changed under {@code lock}, and no owner is
 * told anything while it is held. Of those who were let in since the breaker changed
 * last, no more than {@code window} are inside at any time, and what those before report
 * changes nothing. The window is 1 at first, stays 1 until the breaker has closed, and
 * then grows by 1 with each success, which is 1, 2, 4, 8 for calls that take equally
 * long. Whoever is silent for the breaker's trial timeout is not inside any more. Nobody
 * stays for ever: while somebody waits, either the breaker refuses, and the change that
 * ends this is told to the room after it can be seen; or {@code window} of them are
 * inside, and each that ends makes room; and for all that only time brings about, the one
 * alarm is set.
 */
public final class WaitingRoom implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(WaitingRoom.class);

	private final CircuitBreaker breaker;

	private final TimeSource time;

	private final ReentrantLock lock = new ReentrantLock();

	private final RoomLine line = new RoomLine();

	/** What the breaker was when somebody looked last. */
	private Generation era;

	/** Those who were let in since then and have not ended, the oldest first. */
	private final Set<RoomTicket> inside = new LinkedHashSet<>();

	private int window = 1;

	private long joined;

	private @Nullable Timer alarm;

	private long alarmAt;

	private long alarmSetting;

	private boolean closed;

	/**
	 * Creates an empty room, which from now on hears of the breaker's changes.
	 * @param breaker what its calls wait for
	 * @param time the breaker's time source
	 */
	public WaitingRoom(CircuitBreaker breaker, TimeSource time) {
		this.breaker = breaker;
		this.time = time;
		this.era = breaker.generation();
		breaker.watch(this::serve);
	}

	/**
	 * Whether a call need not join: the breaker lets all calls pass, and nobody waits
	 * whom it would overtake. A call that is nested in one that was let in must not join
	 * unless the breaker refuses it: that one would wait for it in vain.
	 * @return whether it may pass
	 */
	public boolean mayPass() {
		return this.line.length() == 0 && letsAllPass(this.breaker.state());
	}

	private static boolean letsAllPass(BreakerState state) {
		return state == BreakerState.CLOSED || state == BreakerState.DISABLED;
	}

	/**
	 * How many calls wait.
	 * @return the number
	 */
	public int waiting() {
		return this.line.length();
	}

	/**
	 * Lets a call wait behind those who are there.
	 * @param deadline how long it may wait, on the monotonic clock
	 * @param listener is told when the ticket is no longer waiting, unless it is not when
	 * it is returned, or its owner has left; on any thread, the timer's included, so it
	 * must be short and hand the call on rather than make it
	 * @return the ticket
	 */
	public RoomTicket join(long deadline, Runnable listener) {
		return join(null, deadline, listener);
	}

	/**
	 * Lets a call that was let in but got no permit for its attempt wait again, in the
	 * place that it had.
	 * @param ticket what it was let in with; there is no need to report its end
	 * @param listener as for {@link #join}
	 * @return the new ticket
	 */
	public RoomTicket rejoin(RoomTicket ticket, Runnable listener) {
		return join(ticket, ticket.deadline, listener);
	}

	private RoomTicket join(@Nullable RoomTicket before, long deadline, Runnable listener) {
		List<RoomTicket> told;
		RoomTicket ticket;
		this.lock.lock();
		try {
			long number = (before != null && end(before, false)) ? before.number : ++this.joined;
			ticket = new RoomTicket(number, deadline, listener);
			if (this.closed) {
				ticket.state = State.REFUSED_CLOSED;
				return ticket;
			}
			this.line.add(ticket);
			told = turns();
		}
		finally {
			this.lock.unlock();
		}
		told.remove(ticket);
		told.forEach(WaitingRoom::tell);
		return ticket;
	}

	/**
	 * Leaves the room.
	 * @param ticket the ticket
	 * @return whether it was waiting; if not, its state says what became of it, and one
	 * that was let in has to report its {@linkplain #ended end}
	 */
	public boolean leave(RoomTicket ticket) {
		return locked(() -> this.line.take(ticket, State.LEFT));
	}

	/**
	 * Tells what became of a call that was let in, after the breaker has been told.
	 * Reporting it again, or a ticket that was not let in, changes nothing.
	 * @param ticket what it was let in with
	 * @param success whether the provider answered; not if it failed, or if there was no
	 * attempt at all
	 */
	public void ended(RoomTicket ticket, boolean success) {
		locked(() -> end(ticket, success));
	}

	/**
	 * Refuses all who wait, and whoever joins later.
	 */
	@Override
	public void close() {
		List<RoomTicket> refused = locked(() -> {
			this.closed = true;
			List<RoomTicket> all = this.line.all();
			all.forEach((ticket) -> this.line.take(ticket, State.REFUSED_CLOSED));
			return all;
		});
		refused.forEach(WaitingRoom::tell);
	}

	private void serve() {
		locked(() -> true);
	}

	/** One that went off while it was set anew has no say any more. */
	private void onAlarm(long setting) {
		locked(() -> {
			if (setting == this.alarmSetting) {
				this.alarm = null;
			}
			return null;
		});
	}

	/** Does something, and then lets in whose turn has come. */
	private <T extends @Nullable Object> T locked(Supplier<T> change) {
		List<RoomTicket> told;
		T result;
		this.lock.lock();
		try {
			result = change.get();
			told = turns();
		}
		finally {
			this.lock.unlock();
		}
		told.forEach(WaitingRoom::tell);
		return result;
	}

	private boolean end(RoomTicket ticket, boolean success) {
		if (ticket.state != State.ADMITTED) {
			return false;
		}
		ticket.state = State.ENDED;
		this.inside.remove(ticket);
		if (success && ticket.era == this.era && letsAllPass(this.era.kind())) {
			this.window++;
		}
		return true;
	}

	/**
	 * Lets go whose time is over, lets in whose turn has come, and sets the alarm. Called
	 * under the lock, and after whatever changed can be seen.
	 * @return whose owners have to be told once the lock is free
	 */
	private List<RoomTicket> turns() {
		List<RoomTicket> told = new ArrayList<>();
		long now = this.time.nanoTime();
		Generation current = this.breaker.generation();
		if (this.era != current) {
			this.era = current;
			this.inside.clear();
			this.window = 1;
		}
		Iterator<RoomTicket> oldest = this.inside.iterator();
		while (oldest.hasNext() && now - silentAt(oldest.next()) >= 0) {
			oldest.remove();
		}
		while (this.line.length() > 0 && this.line.mostUrgent().deadline - now <= 0) {
			RoomTicket ticket = this.line.mostUrgent();
			this.line.take(ticket, State.EXPIRED);
			told.add(ticket);
		}
		while (this.line.length() > 0 && this.inside.size() < this.window && !current.refuses(now)) {
			RoomTicket ticket = this.line.first();
			ticket.era = this.era;
			ticket.since = now;
			this.line.take(ticket, State.ADMITTED);
			this.inside.add(ticket);
			told.add(ticket);
		}
		setAlarm(current, now);
		return told;
	}

	private void setAlarm(Generation current, long now) {
		Timer running = this.alarm;
		boolean needed = this.line.length() > 0;
		long at = needed ? nextAt(current, now) : now;
		if (running != null) {
			if (needed && at == this.alarmAt) {
				return;
			}
			running.cancel();
			this.alarm = null;
		}
		if (needed) {
			this.alarmAt = at;
			long setting = ++this.alarmSetting;
			this.alarm = this.time.schedule(at - now, () -> onAlarm(setting));
		}
	}

	/** When something may happen that nobody tells of. */
	private long nextAt(Generation current, long now) {
		long deadline = this.line.mostUrgent().deadline;
		long next = current.refuses(now) ? current.refusesUntil(deadline) : silentAt(this.inside.iterator().next());
		return (next - deadline < 0) ? next : deadline;
	}

	private long silentAt(RoomTicket ticket) {
		return ticket.since + this.breaker.trialTimeoutNanos();
	}

	private static void tell(RoomTicket ticket) {
		try {
			ticket.listener.run();
		}
		catch (RuntimeException ex) {
			// It must cost neither the others their turn nor the breaker's caller its
			// own.
			logger.error("A call that waited for a circuit breaker could not be woken", ex);
		}
	}

}
