package dev.llmresilience.limiter;

import dev.llmresilience.time.TimeSource;
import dev.llmresilience.time.TimeSource.Timer;
import org.jspecify.annotations.Nullable;

/**
 * The one timer of a limiter. Changed under the limiter's lock; when it goes off, it is
 * first marked as gone under that lock.
 */
final class Alarm {

	private final TimeSource time;

	private final Runnable task;

	private @Nullable Timer running;

	private long at;

	/**
	 * Creates an alarm that is not set.
	 * @param time the timers
	 * @param task what happens when it goes off
	 */
	Alarm(TimeSource time, Runnable task) {
		this.time = time;
		this.task = task;
	}

	/**
	 * Sets it, in place of the time that it was set to before.
	 * @param at the moment
	 * @param now the clock
	 */
	void set(long at, long now) {
		Timer running = this.running;
		if (running != null) {
			if (at == this.at) {
				return;
			}
			running.cancel();
		}
		this.at = at;
		this.running = this.time.schedule(at - now, this.task);
	}

	void clear() {
		Timer running = this.running;
		if (running != null) {
			running.cancel();
			this.running = null;
		}
	}

	/** It has gone off. */
	void gone() {
		this.running = null;
	}

}
