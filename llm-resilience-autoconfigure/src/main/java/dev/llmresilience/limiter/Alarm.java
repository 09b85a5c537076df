package dev.llmresilience.limiter;

import java.util.function.LongConsumer;

import dev.llmresilience.time.TimeSource;
import dev.llmresilience.time.TimeSource.Timer;
import org.jspecify.annotations.Nullable;

/**
 * The one timer of a limiter. Changed under the limiter's lock; when it goes off, it is
 * first marked as gone under that lock.
 */
final class Alarm {

	private final TimeSource time;

	private final LongConsumer task;

	private @Nullable Timer running;

	private long at;

	private long setting;

	/**
	 * Creates an alarm that is not set.
	 * @param time the timers
	 * @param task what happens when it goes off; it gets the number of the setting
	 */
	Alarm(TimeSource time, LongConsumer task) {
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
			this.running = null;
		}
		this.at = at;
		long setting = ++this.setting;
		this.running = this.time.schedule(at - now, () -> this.task.accept(setting));
	}

	void clear() {
		Timer running = this.running;
		if (running != null) {
			running.cancel();
			this.running = null;
		}
	}

	/**
	 * It has gone off. One that went off while it was set anew has no say any more.
	 * @param setting the number of the setting
	 */
	void gone(long setting) {
		if (setting == this.setting) {
			this.running = null;
		}
	}

}
