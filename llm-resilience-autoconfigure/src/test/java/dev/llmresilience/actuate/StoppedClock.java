package dev.llmresilience.actuate;

import java.time.Instant;

import dev.llmresilience.test.SettableTime;
import dev.llmresilience.time.ForwardingTime;

/**
 * A clock that stands still, and draws what makes an open breaker stay so 31.4 s.
 */
final class StoppedClock extends ForwardingTime {

	StoppedClock() {
		super(new SettableTime());
	}

	@Override
	public Instant now() {
		return Instant.parse("2026-10-01T00:00:00Z");
	}

	@Override
	public double random() {
		return 0.46666;
	}

	/** Whoever waits goes on at once. */
	@Override
	public Waiter waiter() {
		return new Waiter() {

			@Override
			public boolean await(long nanos) {
				return false;
			}

			@Override
			public void await() {
			}

			@Override
			public void signal() {
			}

		};
	}

}
