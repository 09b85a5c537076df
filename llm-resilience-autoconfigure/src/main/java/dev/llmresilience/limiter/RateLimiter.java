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

	private static final double SECOND = 1e9;

	private static final double SECONDS_PER_MINUTE = 60;

	/** The pause after a rejection that names no time, before chance shortens it. */
	private static final long SILENT_HINT_NANOS = 1_000_000_000;

	private final TimeSource time;

	private final LimiterSettings settings;

	/** Numbers the calls, and what is learnt from them; {@code null} at a fixed rate. */
	private final @Nullable RecentCalls calls;

	private final @Nullable PaceLearner learner;

	/** The slots, or {@code null} while every call passes. */
	private volatile @Nullable Bucket bucket;

	private final ReentrantLock lock = new ReentrantLock();

	private final Deque<Ticket> retries = new ArrayDeque<>();

	private final Deque<Ticket> newcomers = new ArrayDeque<>();

	/** Written under the lock, read without it on the free path. */
	private volatile int waiting;

	private int waitingRetries;

	private int waitingNewcomers;

	/** Calls that were rejected and will be back. */
	private int away;

	private @Nullable Timer timer;

	private long timerAt;

	/** When the pace last had a chance to grow. */
	private long adjustedAt;

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
		this.adjustedAt = now;
		this.bucket = bucket(settings, now);
		boolean learns = settings.mode() == LimiterMode.ADAPTIVE;
		Double perMinute = settings.requestsPerMinute();
		this.calls = learns ? new RecentCalls() : null;
		this.learner = learns ? new PaceLearner((perMinute != null) ? perMinute / SECONDS_PER_MINUTE : null,
				settings.burst(), settings.networkMargin().toNanos(), now) : null;
	}

	private static @Nullable Bucket bucket(LimiterSettings settings, long now) {
		Double perMinute = settings.requestsPerMinute();
		if (perMinute == null || settings.mode() == LimiterMode.OFF) {
			return null;
		}
		Integer burst = settings.burst();
		double calls = (burst != null) ? burst : Math.max(1, Math.floor(perMinute / SECONDS_PER_MINUTE));
		if (!(perMinute > 0) || !(calls >= 1)) {
			throw new IllegalArgumentException(
					"A limiter needs requests-per-minute > 0 and burst >= 1, not " + perMinute + " and " + burst);
		}
		return new Bucket(interval(perMinute / SECONDS_PER_MINUTE), calls, settings.networkMargin().toNanos(), now);
	}

	private static long interval(double perSecond) {
		return (long) Math.ceil(SECOND / perSecond);
	}

	/**
	 * Whether this limiter paces a call that the provider has rejected, so that its retry
	 * is one that the provider can be expected to serve.
	 * @return whether it has a rate, or learns one
	 */
	public boolean paces() {
		return this.learner != null || this.bucket != null;
	}

	/**
	 * The rate at present.
	 * @return calls a minute, or {@code null} if every call passes
	 */
	public @Nullable Double requestsPerMinute() {
		PaceLearner learner = this.learner;
		if (learner == null) {
			return (this.bucket != null) ? this.settings.requestsPerMinute() : null;
		}
		this.lock.lock();
		try {
			return learner.isTransparent() ? null : learner.pace() * SECONDS_PER_MINUTE;
		}
		finally {
			this.lock.unlock();
		}
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
			Bucket bucket = adjust(now);
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
	 * Tells that an attempt is being sent.
	 * @param now the monotonic clock, in nanoseconds
	 * @return its number, to be given back if it is rejected
	 */
	public long onSend(long now) {
		return (this.calls != null) ? this.calls.send(now) : 0;
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
		PaceLearner learner = this.learner;
		RecentCalls calls = this.calls;
		if (learner == null || calls == null) {
			long wait = (hintNanos >= 0) ? hintNanos : (long) (SILENT_HINT_NANOS * (0.5 + this.time.random() / 2));
			pause(wait);
			return wait;
		}
		this.lock.lock();
		try {
			long now = this.time.nanoTime();
			adjust(now);
			this.away++;
			calls.reject(sent);
			PaceLearner.Reaction reaction = learner.rejected(new PaceLearner.Sent(sent, number), hintNanos,
					calls.peak(now), now, this.time.random());
			Bucket bucket = reshape(learner, now);
			if (bucket != null && reaction.explained()) {
				bucket.restart(0, 1, now);
				arm(bucket);
			}
			else if (bucket != null) {
				this.pausedUntil = learner.pausedUntil();
				bucket.restartAt(this.pausedUntil);
				arm(bucket);
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
		if (this.learner != null) {
			this.lock.lock();
			try {
				this.away--;
			}
			finally {
				this.lock.unlock();
			}
		}
	}

	/** Gives the bucket the learner's pace. */
	private @Nullable Bucket reshape(PaceLearner learner, long now) {
		Bucket bucket = this.bucket;
		if (learner.isTransparent()) {
			bucket = null;
		}
		else if (bucket == null) {
			bucket = new Bucket(interval(learner.pace()), learner.capacity(), this.settings.networkMargin().toNanos(),
					now);
		}
		else {
			bucket.reshape(interval(learner.pace()), learner.capacity(), now);
		}
		this.bucket = bucket;
		return bucket;
	}

	/** Lets the pace follow what is known by now. */
	private @Nullable Bucket adjust(long now) {
		PaceLearner learner = this.learner;
		if (learner == null) {
			return this.bucket;
		}
		boolean changed = (this.waiting > 0) ? learner.grow(now, this.adjustedAt)
				: this.away == 0 && learner.relax(now);
		this.adjustedAt = now;
		return changed ? reshape(learner, now) : this.bucket;
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
			long now = this.time.nanoTime();
			adjust(now);
			if (this.waiting == 0 || !bucket.takeWaited(now)) {
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
