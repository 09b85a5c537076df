package dev.llmresilience.limiter;

import dev.llmresilience.time.ForwardingTime;
import dev.llmresilience.time.TimeSource;

/**
 * A time that at times has no timers to give.
 */
final class FailingTimers extends ForwardingTime {

	/** Whether it has none at present. */
	boolean failing;

	FailingTimers(TimeSource time) {
		super(time);
	}

	@Override
	public Timer schedule(long delayNanos, Runnable task) {
		if (this.failing) {
			throw new IllegalStateException("no timers left");
		}
		return super.schedule(delayNanos, task);
	}

}
