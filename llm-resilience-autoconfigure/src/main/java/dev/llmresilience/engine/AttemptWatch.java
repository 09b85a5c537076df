package dev.llmresilience.engine;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

import dev.llmresilience.time.TimeSource;

/**
 * Interrupts attempts that take longer than they may, with one timer for all of them.
 * <p>
 * Attempts of one timeout expire in the order in which they began, so the timer that is
 * set for the oldest need not be touched when another begins: an attempt costs an entry
 * in a concurrent set, not a timer. Invariant: when an attempt has been added, the timer
 * is set for its expiry or earlier. It holds because the timer task first lets go of the
 * timer and then looks at the set, and an attempt is first added and then looks at the
 * timer.
 */
final class AttemptWatch {

	private final TimeSource time;

	private final Set<Call> running = ConcurrentHashMap.newKeySet();

	private final ReentrantLock lock = new ReentrantLock();

	private volatile boolean armed;

	private volatile long nextScan;

	AttemptWatch(TimeSource time) {
		this.time = time;
	}

	void begin(Call call, long expiresAt) {
		this.running.add(call);
		if (!this.armed || expiresAt - this.nextScan < 0) {
			arm(expiresAt);
		}
	}

	void end(Call call) {
		this.running.remove(call);
	}

	int size() {
		return this.running.size();
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
		Call next = null;
		for (Call call : this.running) {
			if (call.expiresAt() - now <= 0) {
				call.expire(now);
			}
			else if (next == null || call.expiresAt() - next.expiresAt() < 0) {
				next = call;
			}
		}
		if (next != null) {
			arm(next.expiresAt());
		}
	}

}
