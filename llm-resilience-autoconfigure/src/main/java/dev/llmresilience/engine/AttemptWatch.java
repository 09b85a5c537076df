package dev.llmresilience.engine;

import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

import dev.llmresilience.time.TimeSource;

/**
 * Interrupts attempts that take longer than they may, with one timer for all of them.
 * <p>
 * Attempts of one timeout expire in the order in which they began, so the timer that is
 * set for the oldest need not be touched when another begins. An attempt costs a place in
 * an array, not a timer. Invariant: when an attempt has begun, the timer is set for its
 * expiry or earlier. It holds because the timer task first lets go of the timer and then
 * looks at the places, and an attempt first claims its place and then looks at the timer;
 * a place that is claimed but not yet running is looked at again.
 */
final class AttemptWatch {

	private static final int PLACES = 256;

	/** Spreads threads whose ids follow each other over the places. */
	private static final int SPREAD = 0x9E3779B9;

	private final TimeSource time;

	private final RunningAttempt[] places = new RunningAttempt[PLACES];

	/** Attempts that found their thread's place taken. */
	private final Set<RunningAttempt> others = ConcurrentHashMap.newKeySet();

	private final ReentrantLock lock = new ReentrantLock();

	private volatile boolean armed;

	private volatile long nextScan;

	AttemptWatch(TimeSource time) {
		this.time = time;
		for (int i = 0; i < PLACES; i++) {
			this.places[i] = new RunningAttempt();
		}
	}

	/**
	 * Watches over an attempt on the calling thread.
	 * @param expiresAt when its time is over, on the monotonic clock
	 * @return the attempt, to be {@linkplain #end ended}
	 */
	RunningAttempt begin(long expiresAt) {
		RunningAttempt attempt = this.places[place(Thread.currentThread())];
		if (!attempt.claim()) {
			attempt = new RunningAttempt();
			attempt.claim();
			this.others.add(attempt);
		}
		attempt.begin(expiresAt);
		if (!this.armed || expiresAt - this.nextScan < 0) {
			arm(expiresAt);
		}
		return attempt;
	}

	private static int place(Thread thread) {
		return ((int) thread.getId() * SPREAD) >>> (Integer.SIZE - Integer.numberOfTrailingZeros(PLACES));
	}

	/**
	 * Ends the watch over an attempt.
	 * @param attempt the attempt of the calling thread
	 * @return whether its time was over
	 */
	boolean end(RunningAttempt attempt) {
		boolean expired = attempt.end();
		if (!this.others.isEmpty()) {
			this.others.remove(attempt);
		}
		return expired;
	}

	/**
	 * How many attempts are running.
	 * @return the number
	 */
	int size() {
		long running = Arrays.stream(this.places).filter(RunningAttempt::isRunning).count();
		return (int) running + this.others.size();
	}

	private void arm(long at) {
		this.lock.lock();
		try {
			// A timer for a later moment is left to run: it finds nothing to do.
			if (!this.armed || at - this.nextScan < 0) {
				this.nextScan = at;
				this.armed = true;
				this.time.schedule(at - this.time.nanoTime(), () -> scan(at));
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private void scan(long scheduledFor) {
		this.lock.lock();
		try {
			if (this.nextScan != scheduledFor) {
				return;
			}
			this.armed = false;
		}
		finally {
			this.lock.unlock();
		}
		long now = this.time.nanoTime();
		long never = now + Long.MAX_VALUE;
		long next = never;
		for (RunningAttempt attempt : this.places) {
			next = scan(attempt, now, next, never);
		}
		for (RunningAttempt attempt : this.others) {
			next = scan(attempt, now, next, never);
		}
		if (next != never) {
			arm(next);
		}
	}

	private long scan(RunningAttempt attempt, long now, long next, long never) {
		long expiresAt = attempt.lookAgainAt(now, never);
		if (expiresAt - now <= 0) {
			attempt.expire(now, this.time);
			return next;
		}
		return (expiresAt - next < 0) ? expiresAt : next;
	}

}
