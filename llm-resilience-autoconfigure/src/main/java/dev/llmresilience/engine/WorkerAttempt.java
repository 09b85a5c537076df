package dev.llmresilience.engine;

import java.lang.invoke.VarHandle;

import dev.llmresilience.engine.BlockingDriver.Body;
import dev.llmresilience.engine.CallView.Visit;
import dev.llmresilience.time.TimeSource;
import dev.llmresilience.time.TimeSource.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * An attempt on another thread than the caller's, so that it can be left behind when it
 * does not heed an interrupt. Its outcome counts if it comes before the caller has left.
 *
 * @param <T> the type of the result
 */
final class WorkerAttempt<T extends @Nullable Object> implements Runnable {

	private final TimeSource time;

	private final Call call;

	private final Body<T> body;

	private final Waiter waiter;

	/** Sees to it that an interrupt of ours reaches this attempt and nothing after it. */
	private final RunningAttempt running = new RunningAttempt();

	/** Published by the signal. */
	private @Nullable Outcome<T> outcome;

	private volatile boolean left;

	/**
	 * Creates an attempt of the calling thread.
	 * @param time the time source
	 * @param call the call
	 * @param body the attempt itself
	 */
	WorkerAttempt(TimeSource time, Call call, Body<T> body) {
		this.time = time;
		this.call = call;
		this.body = body;
		this.waiter = time.waiter();
	}

	@Override
	public void run() {
		this.running.claim();
		this.running.begin(this.time.nanoTime());
		// Either this sees that the caller has left, or the caller sees what to
		// interrupt.
		VarHandle.fullFence();
		if (this.left) {
			this.running.end();
			return;
		}
		Visit visit = this.call.visit();
		Outcome<T> outcome;
		try {
			T result = this.body.run();
			outcome = () -> result;
		}
		catch (Throwable ex) {
			outcome = () -> {
				throw ex;
			};
		}
		finally {
			visit.close();
			this.running.end();
		}
		this.outcome = outcome;
		this.waiter.signal();
	}

	/**
	 * Waits for the outcome.
	 * @param nanos the longest wait
	 * @return the outcome, or {@code null} if none came before the caller had to leave
	 * @throws InterruptedException if the caller is interrupted
	 */
	@Nullable Outcome<T> await(long nanos) throws InterruptedException {
		return (this.waiter.await(nanos) && !this.left) ? this.outcome : null;
	}

	/** Wakes the caller, who then finds no outcome, and has to leave. */
	void wake() {
		this.left = true;
		this.waiter.signal();
	}

	/** Leaves the attempt behind. It is interrupted, and may heed that or not. */
	void leave() {
		this.left = true;
		this.running.expire(this.time.nanoTime(), this.time);
	}

	/**
	 * What came of an attempt.
	 *
	 * @param <T> the type of the result
	 */
	@FunctionalInterface
	interface Outcome<T extends @Nullable Object> {

		/**
		 * Hands it over.
		 * @return what the attempt returned
		 * @throws Throwable what it threw
		 */
		T get() throws Throwable;

	}

}
