package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.limiter.PaceLearner.Reaction;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.time.TimeSource;
import dev.llmresilience.time.TimeSource.Timer;
import org.jspecify.annotations.Nullable;

/**
 * Paces calls, so that the provider has no reason to say 429: a bucket of slots with one
 * queue and one timer for all who wait. The rate is the configured one, or one that it
 * {@linkplain PaceLearner learns}.
 * <p>
 * A call first tries {@link #tryAcquire(long)}, which neither locks nor allocates. When
 * that fails it queues up with {@link #enqueue enqueue} and is told when its turn has
 * come. Retries stand before newcomers, and within each of the two the order is that of
 * arrival.
 * <p>
 * Thread-safe. Invariants: queue, timer, tickets, pace and the learner are only changed
 * under {@code lock}; whenever somebody waits, a timer is set; no owner is told anything
 * while the lock is held.
 */
public final class RateLimiter {

	/** The pause after a rejection that names no time, before chance shortens it. */
	private static final long SILENT_HINT_NANOS = 1_000_000_000;

	private final TimeSource time;

	private final LimiterSettings settings;

	/** What learns the rate, or {@code null} at a fixed one. */
	private final @Nullable AdaptivePace adaptive;

	/** The slots, or {@code null} while every call passes. */
	private volatile @Nullable Bucket bucket;

	private final ReentrantLock lock = new ReentrantLock();

	private final WaitingLine line = new WaitingLine();

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
		long now = time.nanoTime();
		this.pausedUntil = now;
		this.bucket = Bucket.of(settings, now);
		this.adaptive = (settings.mode() == LimiterMode.ADAPTIVE) ? new AdaptivePace(settings, now) : null;
	}

	/**
	 * Whether this limiter paces a call that the provider has rejected, so that its retry
	 * is one that the provider can be expected to serve.
	 * @return whether it has a rate, or learns one
	 */
	public boolean paces() {
		return this.adaptive != null || this.bucket != null;
	}

	/**
	 * The rate at present.
	 * @return calls a minute, or {@code null} if every call passes
	 */
	public @Nullable Double requestsPerMinute() {
		AdaptivePace adaptive = this.adaptive;
		if (adaptive == null) {
			return (this.bucket != null) ? this.settings.requestsPerMinute() : null;
		}
		this.lock.lock();
		try {
			return adaptive.perMinute();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Whether calls should bring an estimate of their tokens.
	 * @return whether an estimate makes a difference
	 */
	public boolean countsTokens() {
		return true;
	}

	/**
	 * Sets the rate while running; those who wait follow.
	 * @param requestsPerMinute calls a minute, above 0 and finite
	 * @throws IllegalArgumentException if the rate is out of its range
	 */
	public void setRequestsPerMinute(double requestsPerMinute) {
		if (!(requestsPerMinute > 0) || Double.isInfinite(requestsPerMinute)) {
			throw new IllegalArgumentException(
					"requests-per-minute must be a number above 0, not " + requestsPerMinute);
		}
	}

	/**
	 * Takes a slot if one is free and nobody waits for it.
	 * @param now the monotonic clock of this limiter's time source, in nanoseconds
	 * @return whether the call may leave
	 */
	public boolean tryAcquire(long now) {
		Bucket bucket = this.bucket;
		return !this.closed && (bucket == null || (this.line.length() == 0 && bucket.take(now)));
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
			Bucket bucket = adjust(now);
			if (bucket == null || (this.line.length() == 0 && bucket.take(now))) {
				return new Ticket(State.GRANTED, 0, 0, listener);
			}
			long needed = bucket.freeAt(this.line.ahead(retry), now) - now;
			State state = refusal(now, needed, deadline);
			Ticket ticket = new Ticket(state, needed, patience(now, deadline), listener);
			if (state == State.WAITING) {
				this.line.add(ticket, retry);
				arm();
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
		if (maxWaiting != null && this.line.length() >= maxWaiting) {
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
			return this.line.leave(ticket, retry);
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
		serve();
	}

	/**
	 * Tells that an attempt is being sent.
	 * @param now the monotonic clock, in nanoseconds
	 * @return its number, to be given back if it is rejected
	 */
	public long onSend(long now) {
		return (this.adaptive != null) ? this.adaptive.send(now) : 0;
	}

	/**
	 * Tells that the provider has rejected an attempt because of its rate. The call is
	 * expected to be {@linkplain #back() back}.
	 * @param sent when the attempt was sent, on the monotonic clock, in nanoseconds
	 * @param number its number
	 * @param hintNanos when the provider said to come back, in nanoseconds from now, or
	 * -1 if it said nothing
	 * @return how long the call should stay away, in nanoseconds
	 */
	public long onRejected(long sent, long number, long hintNanos) {
		AdaptivePace adaptive = this.adaptive;
		long silence = (long) (SILENT_HINT_NANOS * (0.5 + this.time.random() / 2));
		if (adaptive == null) {
			long wait = (hintNanos >= 0) ? hintNanos : silence;
			pause(wait);
			return wait;
		}
		this.lock.lock();
		try {
			long now = this.time.nanoTime();
			adjust(now);
			Reaction reaction = adaptive.rejected(sent, number, hintNanos, silence, now);
			Bucket bucket = adaptive.shape(this.bucket, now);
			this.bucket = bucket;
			if (bucket != null) {
				if (reaction.explained()) {
					bucket.restart(0, 1, now);
				}
				else {
					this.pausedUntil = adaptive.pausedUntil();
					bucket.restartAt(this.pausedUntil);
				}
				arm();
			}
			return Math.max(0, reaction.freeAt() - now);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Tells that a call which stayed away after a rejection is back, or will never be.
	 */
	public void back() {
		AdaptivePace adaptive = this.adaptive;
		if (adaptive != null) {
			this.lock.lock();
			try {
				adaptive.back();
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	private @Nullable Bucket adjust(long now) {
		if (this.adaptive != null) {
			this.bucket = this.adaptive.adjust(this.bucket, this.line.length() > 0, now);
		}
		return this.bucket;
	}

	/**
	 * Tells that an attempt has come back, well or badly. The first answer of a burst
	 * shows that the provider's bucket has begun to refill.
	 * @param sent when the attempt left, on the monotonic clock, in nanoseconds
	 */
	public void onAnswer(long sent) {
		Bucket bucket = this.bucket;
		// While nobody waits, nobody would leave sooner for it.
		if (this.line.length() > 0 && bucket != null && bucket.answered(sent, this.time.nanoTime())) {
			serve();
		}
	}

	/**
	 * Tells what a response said about the provider's limits.
	 * @param sent when its request was sent, on the monotonic clock, in nanoseconds
	 * @param number the number of its attempt
	 * @param limits what it said
	 */
	public void onLimits(long sent, long number, List<RateLimitSnapshot> limits) {
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
			arm();
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
	 * Refuses those who wait for one of the providers that use this limiter, because its
	 * circuit breaker lets nobody pass.
	 * @param owner whose calls are refused
	 */
	public void refuseWaiting(Object owner) {
		refuseWaiting();
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
		return this.line.length();
	}

	/**
	 * How many calls could leave at once.
	 * @return the number, with its fraction; infinite if every call passes
	 */
	public double level() {
		Bucket bucket = this.bucket;
		return (bucket != null) ? bucket.level(this.time.nanoTime()) : Double.POSITIVE_INFINITY;
	}

	/** Sets the timer for the first in line. */
	private void arm() {
		Bucket bucket = this.bucket;
		long now = this.time.nanoTime();
		long at = (bucket != null) ? bucket.freeAt(0, now) : now;
		Timer running = this.timer;
		if (running != null && (this.line.length() == 0 || at != this.timerAt)) {
			running.cancel();
			running = null;
		}
		if (running == null && this.line.length() > 0) {
			this.timerAt = at;
			running = this.time.schedule(at - now, this::onTimer);
		}
		this.timer = running;
	}

	private void onTimer() {
		this.lock.lock();
		try {
			this.timer = null;
		}
		finally {
			this.lock.unlock();
		}
		serve();
	}

	/** Lets out all whose turn has come. */
	private void serve() {
		Ticket next = serveOne();
		while (next != null) {
			next.notifyOwner();
			next = serveOne();
		}
	}

	private @Nullable Ticket serveOne() {
		this.lock.lock();
		try {
			long now = this.time.nanoTime();
			Bucket bucket = adjust(now);
			if (this.line.length() == 0 || (bucket != null && !bucket.takeWaited(now))) {
				arm();
				return null;
			}
			return this.line.grant();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void refuseWaiting(State state) {
		List<Ticket> refused;
		this.lock.lock();
		try {
			refused = this.line.refuse(state);
			arm();
		}
		finally {
			this.lock.unlock();
		}
		refused.forEach(Ticket::notifyOwner);
	}

}
