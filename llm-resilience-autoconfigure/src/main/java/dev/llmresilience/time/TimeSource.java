package dev.llmresilience.time;

import java.time.Instant;

/**
 * The one seam to time and chance: a monotonic clock, a wall clock, timers, waiting and
 * random numbers. Everything in this library that waits, reads a clock or draws a number
 * does so through it, so that all of it also runs in virtual time.
 * <p>
 * Implementations are thread-safe.
 *
 * @see SystemTimeSource
 */
public interface TimeSource {

	/**
	 * The monotonic clock.
	 * @return nanoseconds since some fixed but arbitrary origin; only differences mean
	 * anything, and they never go backwards
	 */
	long nanoTime();

	/**
	 * The wall clock. It may jump, so it is used to show times and to read dates, never
	 * to measure a wait.
	 * @return the current instant
	 */
	Instant now();

	/**
	 * Draws a random number.
	 * @return a number that is uniformly distributed over {@code [0, 1)}
	 */
	double random();

	/**
	 * Runs a task once, later, on the timer's thread. The task must be short and must not
	 * block; an exception that it throws is logged and goes no further. After the time
	 * source has been closed, nothing is scheduled.
	 * @param delayNanos nanoseconds from now; zero or less means as soon as possible
	 * @param task the task
	 * @return a handle to cancel it
	 */
	Timer schedule(long delayNanos, Runnable task);

	/**
	 * Runs a task that may take long or block, such as code of the application, soon and
	 * not on the timer's thread. After the time source has been closed, it runs on the
	 * calling thread, so that whoever waits for it is not forgotten.
	 * @param task the task; it must not throw
	 */
	void execute(Runnable task);

	/**
	 * Creates a waiter for the calling thread.
	 * @return a new waiter
	 */
	Waiter waiter();

	/**
	 * Interrupts a thread, which may be waiting.
	 * @param thread the thread
	 */
	default void interrupt(Thread thread) {
		thread.interrupt();
	}

	/**
	 * A scheduled task that has not run yet.
	 */
	@FunctionalInterface
	interface Timer {

		/**
		 * Cancels the task if it has not begun. Safe to call more than once, and from any
		 * thread.
		 */
		void cancel();

	}

	/**
	 * A one-shot gate that the thread which created it can wait at, until somebody
	 * signals it or a time has passed.
	 */
	interface Waiter {

		/**
		 * Blocks the calling thread, which must be the one that created this waiter.
		 * Returns at once when the signal has been given already.
		 * @param nanos the longest wait in nanoseconds
		 * @return {@code true} if the signal was given, {@code false} if the time passed
		 * first
		 * @throws InterruptedException if the thread is interrupted before or while it
		 * waits; the interrupt flag is then clear
		 */
		boolean await(long nanos) throws InterruptedException;

		/**
		 * Blocks the calling thread, which must be the one that created this waiter,
		 * until the signal is given, for however long that takes. Returns at once when it
		 * has been given already.
		 * @throws InterruptedException if the thread is interrupted before or while it
		 * waits; the interrupt flag is then clear
		 */
		void await() throws InterruptedException;

		/**
		 * Opens the gate for good. Callable from any thread.
		 */
		void signal();

	}

}
