package dev.llmresilience.engine;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

import dev.llmresilience.time.TimeSource.Timer;
import org.jspecify.annotations.Nullable;

/**
 * Something that goes on in steps and waits between them without a thread.
 * <p>
 * Invariant: at any time one party may go on with it, the one that has taken
 * {@link #state} away from the step that it waited in: whatever the step waited for, its
 * timer, or whoever cancels. A canceller that finds somebody at work marks it as ended,
 * and whoever is at work cleans up when it comes to the next step.
 */
abstract class Steps {

	/** Somebody is at work. */
	private static final Object BUSY = new Object();

	private static final Object ENDED = new Object();

	private final CallEngine engine;

	private final UnaryOperator<Runnable> context;

	/** {@link #BUSY}, {@link #ENDED}, or the step that is waited in. */
	private final AtomicReference<Object> state = new AtomicReference<>(BUSY);

	Steps(CallEngine engine) {
		this.engine = engine;
		this.context = engine.context().capture();
	}

	/**
	 * Gives back what is held from the first step to the last. Called when it was
	 * cancelled, after what the step itself held has been given back.
	 */
	abstract void close();

	CallEngine engine() {
		return this.engine;
	}

	/** Goes on later, on a thread that may block, in the context of the caller. */
	void execute(Runnable task) {
		this.engine.time().execute(this.context.apply(task));
	}

	/**
	 * Waits in a step.
	 * @return whether it goes on; otherwise it has been cancelled, and what it held has
	 * been given back
	 */
	boolean enter(Step step) {
		if (this.state.compareAndSet(BUSY, step)) {
			return true;
		}
		step.cancel();
		close();
		return false;
	}

	/**
	 * Whoever is at work comes to the end.
	 * @param delivery tells how it ended, unless it was cancelled before
	 */
	void end(Runnable delivery) {
		if (this.state.compareAndSet(BUSY, ENDED)) {
			delivery.run();
		}
	}

	boolean isEnded() {
		return this.state.get() == ENDED;
	}

	boolean waitsIn(Step step) {
		return this.state.get() == step;
	}

	/** Whoever waits for the end has gone away. */
	void cancel() {
		Object seen = this.state.getAndSet(ENDED);
		if (seen instanceof Step step) {
			step.cancel();
			close();
		}
	}

	static void nothing() {
	}

	/**
	 * Something to wait for. It is over once: by itself, by its timer, or because all was
	 * cancelled.
	 */
	class Step {

		/** Goes on, in a task. */
		Runnable whenOver = Steps::nothing;

		/** Gives back what is held in this step. */
		Runnable whenCancelled = Steps::nothing;

		private final Runnable end = this::over;

		private volatile @Nullable Timer timer;

		private volatile boolean endsWithEngine;

		/** What it waits for has happened, perhaps before anybody has come to wait. */
		private volatile boolean over;

		/**
		 * Goes to work.
		 * @return whether nobody else does, and this is the step that is waited in
		 */
		boolean take() {
			if (!Steps.this.state.compareAndSet(this, BUSY)) {
				return false;
			}
			stop();
			return true;
		}

		void over() {
			this.over = true;
			if (take()) {
				execute(this.whenOver);
			}
		}

		/** Its time is over. */
		void expire() {
			over();
		}

		/** Waits until somebody says that it is over, who may have done so already. */
		void await() {
			if (this.over) {
				over();
			}
		}

		void expireIn(long nanos) {
			if (this.over) {
				over();
				return;
			}
			this.timer = Steps.this.engine.time().schedule(nanos, this::expire);
			if (!waitsIn(this)) {
				stop();
			}
		}

		void endWithEngine() {
			this.endsWithEngine = true;
			Steps.this.engine.await(this.end);
			if (Steps.this.engine.isClosed()) {
				over();
			}
			if (!waitsIn(this)) {
				Steps.this.engine.awaited(this.end);
			}
		}

		private void stop() {
			Timer timer = this.timer;
			if (timer != null) {
				timer.cancel();
				this.timer = null;
			}
			if (this.endsWithEngine) {
				Steps.this.engine.awaited(this.end);
			}
		}

		void cancel() {
			stop();
			this.whenCancelled.run();
		}

	}

}
