package dev.llmresilience.breaker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import dev.llmresilience.test.VirtualTime;
import dev.llmresilience.time.ForwardingTime;

/**
 * Simulated time without chance, which knows how many of its timers are running.
 */
final class CountedTimers extends ForwardingTime {

	private final VirtualTime time;

	private final List<Object> pending = new ArrayList<>();

	private Duration early = Duration.ZERO;

	private Runnable last = () -> {
	};

	CountedTimers(VirtualTime time) {
		super(time);
		this.time = time;
	}

	/** What the timer that was set last does when it goes off. */
	Runnable last() {
		return this.last;
	}

	int pending() {
		return this.pending.size();
	}

	Duration elapsed() {
		return this.time.elapsed();
	}

	void runFor(Duration duration) {
		this.time.runFor(duration);
	}

	@Override
	public double random() {
		return 0;
	}

	void nextGoesOffEarly(Duration early) {
		this.early = early;
	}

	@Override
	public Timer schedule(long delayNanos, Runnable task) {
		Object entry = new Object();
		this.pending.add(entry);
		this.last = task;
		Timer timer = super.schedule(delayNanos - this.early.toNanos(), () -> {
			this.pending.remove(entry);
			task.run();
		});
		this.early = Duration.ZERO;
		return () -> {
			this.pending.remove(entry);
			timer.cancel();
		};
	}

}
