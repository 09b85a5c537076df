package dev.llmresilience.time;

import java.time.Instant;

/**
 * Does all as another time does it, for tests that look at or change one thing.
 */
public abstract class ForwardingTime implements TimeSource {

	private final TimeSource time;

	protected ForwardingTime(TimeSource time) {
		this.time = time;
	}

	@Override
	public long nanoTime() {
		return this.time.nanoTime();
	}

	@Override
	public Instant now() {
		return this.time.now();
	}

	@Override
	public double random() {
		return this.time.random();
	}

	@Override
	public Timer schedule(long delayNanos, Runnable task) {
		return this.time.schedule(delayNanos, task);
	}

	@Override
	public void execute(Runnable task) {
		this.time.execute(task);
	}

	@Override
	public Waiter waiter() {
		return this.time.waiter();
	}

	@Override
	public void interrupt(Thread thread) {
		this.time.interrupt(thread);
	}

}
