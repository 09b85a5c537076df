package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.time.TimeSource;
import dev.llmresilience.time.TimeSource.Timer;
import org.jspecify.annotations.Nullable;

/**
 * Paces calls at a fixed rate, so that the provider has no reason to say 429: a token
 * bucket with one queue and one timer for all who wait.
 * <p>
 * A call first tries {@link #tryAcquire(long)}, which neither locks nor allocates. When
 * that fails it queues up with {@link #enqueue enqueue} and is told when its turn has
 * come. Retries stand before newcomers, and within each of the two the order is that of
 * arrival.
 * <p>
 * Thread-safe. Invariants: queue, timer and tickets are only changed under {@code lock};
 * whenever somebody waits, a timer is set; no owner is told anything while the lock is
 * held.
 */
public final class RateLimiter {

	private static final double NANOS_PER_MINUTE = 60e9;

	private final TimeSource time;

	private final LimiterSettings settings;

	/** The slots, or {@code null} if every call passes. */
	private final @Nullable Bucket bucket;

	private final ReentrantLock lock = new ReentrantLock();

	private final Deque<Ticket> retries = new ArrayDeque<>();

	private final Deque<Ticket> newcomers = new ArrayDeque<>();

	/** Written under the lock, read without it on the free path. */
	private volatile int waiting;

	private int waitingRetries;

	private int waitingNewcomers;

	private @Nullable Timer timer;

	private long timerAt;

	private long pausedUntil;

	private volatile boolean closed;

	/**
	 * Creates a limiter whose bucket is full.
	 * @param settings how it paces
	 * @param time clock and timer
	 * @throws IllegalArgumentException if the rate or the burst is out of its range
	 */
	public RateLimiter(LimiterSettings settings, TimeSource time) {
		this.settings = settings;
		this.time = time;
		this.pausedUntil = time.nanoTime();
		this.bucket = bucket(settings, this.pausedUntil);
	}

	private static @Nullable Bucket bucket(LimiterSettings settings, long now) {
		Double perMinute = settings.requestsPerMinute();
		if (perMinute == null) {
			return null;
		}
		Integer burst = settings.burst();
		double calls = (burst != null) ? burst : Math.max(1, Math.floor(perMinute / 60));
		if (!(perMinute > 0) || !(calls >= 1)) {
			throw new IllegalArgumentException(
					"A limiter needs requests-per-minute > 0 and burst >= 1, not " + perMinute + " and " + burst);
		}
		long interval = (long) Math.ceil(NANOS_PER_MINUTE / perMinute);
		return new Bucket(interval, calls, settings.networkMargin().toNanos(), now);
	}

	/**
	 * Whether this limiter has a rate, so that a call that it lets out is one that the
	 * provider can be expected to serve.
	 * @return whether it paces
	 */
	public boolean paces() {
		return this.bucket != null;
	}

	/**
	 * The rate.
	 * @return calls a minute, or {@code null} if every call passes
	 */
	public @Nullable Double requestsPerMinute() {
		return this.settings.requestsPerMinute();
	}

	/**
	 * Takes a slot if one is free and nobody waits for it.
	 * @param now the monotonic clock of this limiter's time source, in nanoseconds
	 * @return whether the call may leave
	 */
	public boolean tryAcquire(long now) {
		Bucket bucket = this.bucket;
		return !this.closed && (bucket == null || (this.waiting == 0 && bucket.take(now)));
	}

	/**
	 * Queues up for a slot. A wait that cannot fit is refused at once, and nothing is
	 * taken.
	 * @param now the monotonic clock, in nanoseconds
	 * @param deadline the latest moment on that clock at which leaving makes sense
	 * @param retry whether the call is a retry, which goes before newcomers
	 * @param listener is told, on any thread, when the ticket is no longer waiting; it
	 * must be quick; not told when the returned ticket is not waiting to begin with
	 * @return the ticket: granted, refused or waiting
	 */
	public Ticket enqueue(long now, long deadline, boolean retry, Runnable listener) {
		this.lock.lock();
		try {
			if (this.closed) {
				return new Ticket(State.REFUSED_CLOSED, 0, 0, listener);
			}
			Bucket bucket = this.bucket;
			if (bucket == null || (this.waiting == 0 && bucket.take(now))) {
				return new Ticket(State.GRANTED, 0, 0, listener);
			}
			long needed = bucket.freeAt(retry ? this.waitingRetries : this.waiting, now) - now;
			State state = refusal(now, needed, deadline);
			Ticket ticket = new Ticket(state, needed, patience(now, deadline), listener);
			if (state == State.WAITING) {
				(retry ? this.retries : this.newcomers).add(ticket);
				count(retry, 1);
				arm(bucket);
			}
			return ticket;
		}
		finally {
			this.lock.unlock();
		}
	}

	private long patience(long now, long deadline) {
		Duration maxWait = this.settings.maxWait();
		return (maxWait != null) ? Math.min(maxWait.toNanos(), deadline - now) : deadline - now;
	}

	private State refusal(long now, long needed, long deadline) {
		Integer maxWaiting = this.settings.maxWaiting();
		if (maxWaiting != null && this.waiting >= maxWaiting) {
			return State.REFUSED_MAX_WAITING;
		}
		Duration maxWait = this.settings.maxWait();
		if (maxWait != null && needed > maxWait.toNanos()) {
			return State.REFUSED_MAX_WAIT;
		}
		return (now + needed - deadline > 0) ? State.REFUSED_DEADLINE : State.WAITING;
	}

	/**
	 * Leaves the queue, so that the next in line moves up.
	 * @param ticket a ticket of this limiter
	 * @param retry whether it was queued as a retry
	 * @return {@code false} if the ticket was not waiting any more: if it has been
	 * granted, its slot has to be {@linkplain #giveBack() given back}
	 */
	public boolean leave(Ticket ticket, boolean retry) {
		this.lock.lock();
		try {
			if (!ticket.isWaiting()) {
				return false;
			}
			// It stays in the queue as a blank and is skipped at its turn.
			ticket.become(State.LEFT);
			count(retry, -1);
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Gives a slot back with which no request was sent. Never lifts the bucket above its
	 * capacity.
	 */
	public void giveBack() {
		Bucket bucket = this.bucket;
		if (bucket == null) {
			return;
		}
		this.lock.lock();
		try {
			bucket.giveBack(this.time.nanoTime(), this.pausedUntil);
		}
		finally {
			this.lock.unlock();
		}
		serve(bucket);
	}

	/**
	 * Tells that an attempt has come back, well or badly. The first answer of a burst
	 * shows that the provider's bucket has begun to refill.
	 * @param sent when the attempt left, on the monotonic clock, in nanoseconds
	 */
	public void onAnswer(long sent) {
		Bucket bucket = this.bucket;
		// While nobody waits, nobody would leave sooner for it.
		if (this.waiting > 0 && bucket != null && bucket.answered(sent, this.time.nanoTime())) {
			serve(bucket);
		}
	}

	/**
	 * Lets nothing out for a while; then one call leaves, and the others follow at the
	 * rate. A pause that already lasts longer stays.
	 * @param nanos the length of the pause, in nanoseconds
	 */
	public void pause(long nanos) {
		Bucket bucket = this.bucket;
		if (bucket == null) {
			return;
		}
		this.lock.lock();
		try {
			long until = this.time.nanoTime() + nanos;
			if (until - this.pausedUntil > 0) {
				this.pausedUntil = until;
			}
			bucket.pause(this.pausedUntil);
			arm(bucket);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Refuses all who wait because the circuit breaker lets nobody pass.
	 */
	public void refuseWaiting() {
		refuseWaiting(State.REFUSED_BREAKER);
	}

	/**
	 * Refuses all who wait, and everybody from now on.
	 */
	public void close() {
		this.closed = true;
		refuseWaiting(State.REFUSED_CLOSED);
	}

	/**
	 * How many calls wait.
	 * @return the number
	 */
	public int waiting() {
		return this.waiting;
	}

	/**
	 * How many calls could leave at once.
	 * @return the number, with its fraction; infinite if every call passes
	 */
	public double level() {
		Bucket bucket = this.bucket;
		return (bucket != null) ? bucket.level(this.time.nanoTime()) : Double.POSITIVE_INFINITY;
	}

	private void count(boolean retry, int change) {
		if (retry) {
			this.waitingRetries += change;
		}
		else {
			this.waitingNewcomers += change;
		}
		this.waiting = this.waitingRetries + this.waitingNewcomers;
	}

	/** Sets the timer for the first in line. */
	private void arm(Bucket bucket) {
		long now = this.time.nanoTime();
		long at = bucket.freeAt(0, now);
		Timer running = this.timer;
		if (running != null && (this.waiting == 0 || at != this.timerAt)) {
			running.cancel();
			running = null;
		}
		if (running == null && this.waiting > 0) {
			this.timerAt = at;
			running = this.time.schedule(at - now, () -> onTimer(bucket));
		}
		this.timer = running;
	}

	private void onTimer(Bucket bucket) {
		this.lock.lock();
		try {
			this.timer = null;
		}
		finally {
			this.lock.unlock();
		}
		serve(bucket);
	}

	/** Lets out all whose turn has come. */
	private void serve(Bucket bucket) {
		Ticket next = serveOne(bucket);
		while (next != null) {
			next.notifyOwner();
			next = serveOne(bucket);
		}
	}

	private @Nullable Ticket serveOne(Bucket bucket) {
		this.lock.lock();
		try {
			if (this.waiting == 0 || !bucket.takeWaited(this.time.nanoTime())) {
				arm(bucket);
				return null;
			}
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
		finally {
			this.lock.unlock();
		}
	}

	private static @Nullable Ticket poll(Deque<Ticket> lane) {
		Ticket ticket = lane.poll();
		while (ticket != null && !ticket.isWaiting()) {
			ticket = lane.poll();
		}
		return ticket;
	}

	private void refuseWaiting(State state) {
		List<Ticket> refused = new ArrayList<>();
		this.lock.lock();
		try {
			refused.addAll(this.retries);
			refused.addAll(this.newcomers);
			this.retries.clear();
			this.newcomers.clear();
			this.waitingRetries = 0;
			this.waitingNewcomers = 0;
			this.waiting = 0;
			refused.removeIf((ticket) -> !ticket.isWaiting());
			refused.forEach((ticket) -> ticket.become(state));
			if (this.bucket != null) {
				arm(this.bucket);
			}
		}
		finally {
			this.lock.unlock();
		}
		refused.forEach(Ticket::notifyOwner);
	}

}
