package dev.llmresilience.test;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

import dev.llmresilience.time.TimeSource;

/**
 * A clock that moves only when it is told to, for tests with real threads. Timers never
 * run, and nobody can wait. Thread-safe.
 */
public final class SettableTime implements TimeSource {

	private final AtomicLong nanos = new AtomicLong();

	private volatile double random;

	/**
	 * Moves the clock.
	 * @param duration by how much
	 */
	public void advance(Duration duration) {
		this.nanos.addAndGet(duration.toNanos());
	}

	/**
	 * Sets the number that is drawn from now on.
	 * @param random the number
	 */
	public void random(double random) {
		this.random = random;
	}

	@Override
	public long nanoTime() {
		return this.nanos.get();
	}

	@Override
	public Instant now() {
		return VirtualTime.DEFAULT_START.plusNanos(this.nanos.get());
	}

	@Override
	public double random() {
		return this.random;
	}

	@Override
	public Timer schedule(long delayNanos, Runnable task) {
		return () -> {
		};
	}

	@Override
	public void execute(Runnable task) {
		task.run();
	}

	@Override
	public Waiter waiter() {
		throw new UnsupportedOperationException("Nobody waits on this clock");
	}

}
