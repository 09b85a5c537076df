package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
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
 * The bucket is kept as the moment at which it will be full again ({@code fullAt}), the
 * way of the generic cell rate algorithm (ITU-T I.371): a call moves that moment by one
 * {@code interval}, and may leave if it then lies no further ahead than the whole
 * {@code capacity}.
 * <p>
 * Thread-safe. Invariants: {@code fullAt} is only changed by compare-and-set; queue,
 * timer, tickets and margin only under {@code lock}; whenever somebody waits, a timer is
 * set; no owner is told anything while the lock is held.
 */
public final class RateLimiter {

	private static final double NANOS_PER_MINUTE = 60e9;

	private final TimeSource time;

	private final LimiterSettings settings;

	/** Nanoseconds between two paced calls; 0 lets every call pass. */
	private final long interval;

	private final long capacity;

	private final long margin;

	private final AtomicLong fullAt;

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

	/** When the bucket was last full and a call left. */
	private volatile long burstStart;

	/** Whether an answer has come since the burst began. */
	private volatile boolean answered;

	/**
	 * What the burst's first paced slot was moved back by; -1 while none was held back.
	 */
	private volatile long charged = -1;

	/**
	 * Creates a limiter whose bucket is full.
	 * @param settings how it paces
	 * @param time clock and timer
	 * @throws IllegalArgumentException if the rate or the burst is out of its range
	 */
	public RateLimiter(LimiterSettings settings, TimeSource time) {
		this.settings = settings;
		this.time = time;
		this.margin = settings.networkMargin().toNanos();
		Double perMinute = settings.requestsPerMinute();
		if (perMinute == null) {
			this.interval = 0;
			this.capacity = 0;
		}
		else {
			Integer burst = settings.burst();
			double calls = (burst != null) ? burst : Math.max(1, Math.floor(perMinute / 60));
			if (!(perMinute > 0) || !(calls >= 1)) {
				throw new IllegalArgumentException(
						"A limiter needs requests-per-minute > 0 and burst >= 1, not " + perMinute + " and " + burst);
			}
			this.interval = (long) Math.ceil(NANOS_PER_MINUTE / perMinute);
			this.capacity = (long) Math.min(Long.MAX_VALUE / 4.0, this.interval * calls);
		}
		this.burstStart = time.nanoTime();
		this.pausedUntil = this.burstStart;
		this.fullAt = new AtomicLong(this.burstStart);
	}

	/**
	 * Whether this limiter has a rate, so that a call that it lets out is one that the
	 * provider can be expected to serve.
	 * @return whether it paces
	 */
	public boolean paces() {
		return this.interval > 0;
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
		if (this.interval == 0) {
			return !this.closed;
		}
		return this.waiting == 0 && !this.closed && take(now);
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
			if (this.interval == 0 || (this.waiting == 0 && take(now))) {
				return new Ticket(State.GRANTED, 0, 0, listener);
			}
			chargeMargin(now);
			int ahead = retry ? this.waitingRetries : this.waiting;
			long needed = Math.max(0, slot(ahead) - now);
			State state = refusal(now, needed, deadline);
			Ticket ticket = new Ticket(state, needed, patience(now, deadline), listener);
			if (state == State.WAITING) {
				(retry ? this.retries : this.newcomers).add(ticket);
				count(retry, 1);
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
		if (this.interval == 0) {
			return;
		}
		this.lock.lock();
		try {
			long floor = this.pausedUntil + this.capacity - this.interval;
			long now = this.time.nanoTime();
			this.fullAt.updateAndGet((at) -> {
				long earlier = at - this.interval;
				return (this.pausedUntil - now > 0) ? Math.max(earlier, Math.min(at, floor)) : earlier;
			});
		}
		finally {
			this.lock.unlock();
		}
		serve();
	}

	/**
	 * Tells that an attempt has come back, well or badly. The first answer of a burst
	 * shows that the provider's bucket has begun to refill.
	 * @param sent when the attempt left, on the monotonic clock, in nanoseconds
	 */
	public void onAnswer(long sent) {
		if (!this.answered && sent - this.burstStart >= 0) {
			this.answered = true;
			if (this.charged > 0) {
				correctMargin();
			}
		}
	}

	/**
	 * Lets nothing out for a while; then one call leaves, and the others follow at the
	 * rate. A pause that already lasts longer stays.
	 * @param nanos the length of the pause, in nanoseconds
	 */
	public void pause(long nanos) {
		if (this.interval == 0) {
			return;
		}
		this.lock.lock();
		try {
			long until = this.time.nanoTime() + nanos;
			if (until - this.pausedUntil > 0) {
				this.pausedUntil = until;
			}
			long floor = this.pausedUntil + this.capacity - this.interval;
			this.fullAt.updateAndGet((at) -> (floor - at > 0) ? floor : at);
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
		if (this.interval == 0) {
			return Double.POSITIVE_INFINITY;
		}
		long ahead = Math.max(0, this.fullAt.get() - this.time.nanoTime());
		return Math.max(0, (double) (this.capacity - ahead) / this.interval);
	}

	private boolean take(long now) {
		while (true) {
			long seen = this.fullAt.get();
			boolean full = seen - now <= 0;
			long next = (full ? now : seen) + this.interval;
			if (next - now > this.capacity) {
				return false;
			}
			if (full) {
				beginBurst(now);
			}
			if (this.fullAt.compareAndSet(seen, next)) {
				return true;
			}
		}
	}

	/**
	 * Until the burst's first call arrives, the provider's bucket is full and does not
	 * refill.
	 */
	private void beginBurst(long now) {
		this.burstStart = now;
		if (this.answered) {
			this.answered = false;
		}
		if (this.charged >= 0) {
			this.charged = -1;
		}
	}

	private void chargeMargin(long now) {
		if (this.charged >= 0) {
			return;
		}
		long sinceStart = Math.max(0, now - this.burstStart);
		long owed = this.answered ? Math.min(this.margin, sinceStart) : this.margin;
		this.charged = owed;
		this.fullAt.addAndGet(owed);
	}

	private void correctMargin() {
		this.lock.lock();
		try {
			long needed = this.time.nanoTime() - this.burstStart;
			long tooMuch = this.charged - needed;
			if (tooMuch > 0) {
				this.charged = needed;
				this.fullAt.addAndGet(-tooMuch);
				arm();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** The moment at which the call with so many ahead of it may leave. */
	private long slot(int ahead) {
		return this.fullAt.get() - this.capacity + this.interval * (ahead + 1L);
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

	private void arm() {
		Timer running = this.timer;
		if (this.waiting == 0) {
			if (running != null) {
				running.cancel();
				this.timer = null;
			}
			return;
		}
		long at = slot(0);
		if (running == null || at != this.timerAt) {
			if (running != null) {
				running.cancel();
			}
			this.timerAt = at;
			this.timer = this.time.schedule(at - this.time.nanoTime(), this::onTimer);
		}
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
			if (this.waiting == 0 || !take(this.time.nanoTime())) {
				arm();
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
			arm();
		}
		finally {
			this.lock.unlock();
		}
		refused.forEach(Ticket::notifyOwner);
	}

}
