package dev.llmresilience.breaker;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Counts the outcomes of one closed era of a breaker and says when it is enough.
 * Lock-free; while outcomes arrive at the same moment, the share may lag behind by as
 * many.
 */
final class FailureCounter {

	private final int threshold;

	private final AtomicInteger consecutive;

	private final AtomicInteger failures;

	private final AtomicInteger outcomes;

	/** The last outcomes as a ring, 1 for a failure; empty when only a run counts. */
	private final AtomicIntegerArray window;

	private final double failureRate;

	FailureCounter(BreakerSettings settings) {
		this(settings, new AtomicInteger(), new AtomicInteger(), new AtomicInteger(),
				new AtomicIntegerArray(windowSize(settings)));
	}

	private FailureCounter(BreakerSettings settings, AtomicInteger consecutive, AtomicInteger failures,
			AtomicInteger outcomes, AtomicIntegerArray window) {
		Double rate = settings.failureRateThreshold();
		this.threshold = settings.failureThreshold();
		this.failureRate = (rate != null) ? rate / 100 : 1;
		this.consecutive = consecutive;
		this.failures = failures;
		this.outcomes = outcomes;
		this.window = window;
	}

	private static int windowSize(BreakerSettings settings) {
		return (settings.failureRateThreshold() != null) ? settings.windowSize() : 0;
	}

	/**
	 * A counter with other limits that goes on with the same counts; only a window of
	 * another size begins anew.
	 * @param settings the limits
	 * @return the counter, which this one counts for too
	 */
	FailureCounter with(BreakerSettings settings) {
		int size = windowSize(settings);
		return (size == this.window.length())
				? new FailureCounter(settings, this.consecutive, this.failures, this.outcomes, this.window)
				: new FailureCounter(settings, this.consecutive, new AtomicInteger(), new AtomicInteger(),
						new AtomicIntegerArray(size));
	}

	int consecutive() {
		return this.consecutive.get();
	}

	void success() {
		if (this.consecutive.get() != 0) {
			this.consecutive.set(0);
		}
		if (this.window.length() > 0) {
			record(0);
		}
	}

	/**
	 * Counts a failure.
	 * @return whether the breaker has to open
	 */
	boolean failure() {
		int run = this.consecutive.incrementAndGet();
		int size = this.window.length();
		boolean shareReached = size > 0 && record(1) >= size && this.failures.get() >= this.failureRate * size;
		return run >= this.threshold || shareReached;
	}

	private int record(int failed) {
		int index = this.outcomes.getAndUpdate((n) -> (n == Integer.MAX_VALUE) ? indexAgain() : n + 1);
		int before = this.window.getAndSet(index % this.window.length(), failed);
		this.failures.addAndGet(failed - before);
		return index + 1;
	}

	/**
	 * Where the count goes on instead of overflowing: full, and at the same place of the
	 * ring.
	 */
	private int indexAgain() {
		return this.window.length() + (Integer.MAX_VALUE % this.window.length()) + 1;
	}

}
