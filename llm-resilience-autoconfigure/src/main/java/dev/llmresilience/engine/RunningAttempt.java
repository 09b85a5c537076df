package dev.llmresilience.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * The attempt that a thread is in, as far as its time limit is concerned. Used for one
 * attempt after another.
 * <p>
 * Invariant: whoever moves the state away from {@code RUNNING} by compare-and-set owns
 * the end of the attempt: its own thread, which then was not interrupted, or the watch,
 * which then interrupts it, and the thread waits until that has happened. So an interrupt
 * of ours never reaches anything but the attempt that it was meant for.
 */
final class RunningAttempt {

	private static final int FREE = 0;

	private static final int CLAIMED = 1;

	private static final int RUNNING = 2;

	/** The watch has claimed the attempt and is about to interrupt its thread. */
	private static final int EXPIRING = 3;

	private static final int EXPIRED = 4;

	private static final long MOMENT = 1_000_000;

	private static final VarHandle STATE;

	static {
		try {
			STATE = MethodHandles.lookup().findVarHandle(RunningAttempt.class, "state", int.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	/** Written last at the beginning of an attempt, and so publishes the other two. */
	private volatile int state;

	private @Nullable Thread thread;

	private long expiresAt;

	/**
	 * Takes this place for the calling thread.
	 * @return whether it was free
	 */
	boolean claim() {
		return this.state == FREE && STATE.compareAndSet(this, FREE, CLAIMED);
	}

	/**
	 * Begins an attempt in this place, which the calling thread has claimed. Claiming it
	 * was a fence already, so that this need not be another.
	 * @param expiresAt when its time is over, on the monotonic clock
	 */
	void begin(long expiresAt) {
		this.thread = Thread.currentThread();
		this.expiresAt = expiresAt;
		STATE.setRelease(this, RUNNING);
	}

	/**
	 * Ends the attempt, takes back an interrupt that was ours, and leaves the place.
	 * @return whether its time was over
	 */
	boolean end() {
		while (!STATE.compareAndSet(this, RUNNING, FREE)) {
			if (this.state == EXPIRED) {
				Thread.interrupted();
				this.state = FREE;
				return true;
			}
			Thread.onSpinWait();
		}
		return false;
	}

	boolean isRunning() {
		return this.state != FREE;
	}

	/**
	 * When to look at the attempt again.
	 * @param now the monotonic clock
	 * @param never the answer if no attempt is running
	 * @return when its time is over, or in a moment if it is only about to begin
	 */
	long lookAgainAt(long now, long never) {
		return switch (this.state) {
			case RUNNING -> this.expiresAt;
			case CLAIMED -> now + MOMENT;
			default -> never;
		};
	}

	/**
	 * Interrupts the attempt if its time is over.
	 * @param now the monotonic clock
	 * @param time interrupts
	 */
	void expire(long now, TimeSource time) {
		if (!STATE.compareAndSet(this, RUNNING, EXPIRING)) {
			return;
		}
		// Only now is it certain which attempt this is.
		Thread thread = this.thread;
		if (thread == null || this.expiresAt - now > 0) {
			this.state = RUNNING;
			return;
		}
		time.interrupt(thread);
		this.state = EXPIRED;
	}

}
