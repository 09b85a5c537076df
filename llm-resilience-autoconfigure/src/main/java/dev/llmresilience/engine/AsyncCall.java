package dev.llmresilience.engine;

import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

import dev.llmresilience.AttemptTimeoutException;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.breaker.RoomTicket;
import dev.llmresilience.limiter.RateLimiter;
import dev.llmresilience.limiter.Ticket;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.policy.Decision;
import dev.llmresilience.policy.Decision.GiveUp;
import dev.llmresilience.policy.Decision.Retry;
import dev.llmresilience.time.TimeSource.Timer;
import org.jspecify.annotations.Nullable;

/**
 * An invocation whose attempts end later, on any thread, and which waits without one.
 * <p>
 * Invariant: at any time one party may go on with it, the one that has taken
 * {@link #state} away from the step that it waited in: whatever the step waited for, its
 * timer, or whoever cancels. A canceller that finds somebody at work marks the call as
 * ended, and whoever is at work cleans up when it comes to the next step. Code of the
 * application runs on the thread that made the call, for the first attempt if it need not
 * wait, and else in {@link dev.llmresilience.time.TimeSource#execute tasks}, never on the
 * timer's thread.
 *
 * @param <T> the type of the result
 */
abstract class AsyncCall<T extends @Nullable Object> {

	/** Somebody is at work. */
	private static final Object BUSY = new Object();

	private static final Object ENDED = new Object();

	private final CallEngine engine;

	private final CallPlan plan;

	private final @Nullable Object key;

	private final long tokens;

	private final UnaryOperator<Runnable> context;

	/** {@link #BUSY}, {@link #ENDED}, or the step that the call waits in. */
	private final AtomicReference<Object> state = new AtomicReference<>(BUSY);

	/** Written by whoever is at work. */
	private volatile Call call;

	private @Nullable FailoverChain chain;

	AsyncCall(CallEngine engine, CallPlan plan, @Nullable Object key, long tokens) {
		this.engine = engine;
		this.plan = plan;
		this.key = key;
		this.tokens = tokens;
		this.context = engine.context().capture();
		this.call = Call.begin(engine, plan, key, tokens);
	}

	/**
	 * Begins an attempt, which is reported as {@link Attempt#succeeded succeeded} or
	 * {@link Attempt#failed failed} on any thread, perhaps at once.
	 * @param attempt the attempt
	 * @throws Throwable if it failed to begin
	 */
	abstract void begin(Attempt attempt) throws Throwable;

	/** Delivers the result. */
	abstract void complete(@Nullable T result);

	/** Delivers the failure. */
	abstract void fail(Throwable failure);

	abstract boolean hasFallback();

	/**
	 * Lets the fallback answer.
	 * @param failure what the caller would get
	 */
	abstract void recover(Throwable failure);

	CallEngine engine() {
		return this.engine;
	}

	Call call() {
		return this.call;
	}

	/** Begins. */
	void start() {
		leave(this.call.start());
	}

	/** Gets past the guards. */
	private void leave(long now) {
		Call call = this.call;
		if (!call.guards().waitsForBreaker()) {
			pass(now);
			return;
		}
		Step step = new Step();
		RoomTicket ticket = call.guards().await(call.deadline(), step::over);
		step.whenOver = () -> {
			LlmCallRefusedException refusal = call.guards().awaited(ticket);
			if (refusal != null) {
				failed(call.refused(refusal));
			}
			else {
				pass(this.engine.time().nanoTime());
			}
		};
		step.whenCancelled = () -> {
			call.guards().awaited(ticket);
			call.guards().abandon();
		};
		if (ticket.state() != RoomTicket.State.WAITING) {
			step.whenOver.run();
		}
		else if (enter(step)) {
			step.expireIn(call.deadline() - now);
		}
	}

	private void pass(long now) {
		Call call = this.call;
		LlmCallRefusedException refusal = call.admit(now);
		call.guards().back();
		RateLimiter limiter = call.guards().provider().limiter();
		if (refusal != null || limiter.tryAcquire(call.guards().permit(), now)) {
			left(refusal, now);
			return;
		}
		Step step = new Step();
		Ticket ticket = limiter.enqueue(call.guards().permit(), now, call.deadline(), call.isRetry(), step::over);
		if (ticket.state() != State.WAITING) {
			left(call.queued(ticket), this.engine.time().nanoTime());
			return;
		}
		step.whenOver = () -> {
			limiter.leave(ticket);
			left(call.queued(ticket), this.engine.time().nanoTime());
		};
		step.whenCancelled = () -> call.leaveQueue(ticket);
		if (enter(step)) {
			step.expireIn(ticket.patienceNanos());
		}
	}

	private void left(@Nullable LlmCallRefusedException refused, long now) {
		LlmCallRefusedException refusal = (refused != null) ? refused : this.call.guards().takePermit(now);
		if (refused == null && refusal != null && this.call.guards().isPatient()) {
			leave(this.engine.time().nanoTime());
			return;
		}
		if (refusal != null) {
			failed(this.call.refused(refusal));
			return;
		}
		attempt(now);
	}

	private void attempt(long now) {
		Call call = this.call;
		Attempt attempt = new Attempt(call, now, timeout(call, call.begin(now) - now));
		if (!enter(attempt)) {
			return;
		}
		LlmCall before = call.enterHere();
		try {
			begin(attempt);
		}
		catch (Throwable ex) {
			attempt.failed(ex);
		}
		finally {
			Call.restore(before);
		}
		attempt.watch();
	}

	/**
	 * The time that an attempt may take.
	 * @param call the call
	 * @param nanos what its options give it, in nanoseconds
	 * @return nanoseconds
	 */
	long timeout(Call call, long nanos) {
		return nanos;
	}

	/** What did not come in time. */
	String awaited() {
		return "answer";
	}

	private void decided(Decision decision) {
		if (decision instanceof GiveUp giveUp) {
			failed(this.call.giveUp(giveUp));
			return;
		}
		Call call = this.call;
		Step step = new Step();
		step.whenOver = () -> leave(this.engine.time().nanoTime());
		step.whenCancelled = call.guards()::abandon;
		if (enter(step)) {
			step.expireIn(((Retry) decision).delayNanos());
			step.endWithEngine();
		}
	}

	/** The call has failed for good under this provider. */
	private void failed(Throwable thrown) {
		Call failed = this.call;
		failed.close();
		FailoverChain chain = this.chain;
		if (chain == null) {
			chain = new FailoverChain(this.engine, this.plan, this.key, this.tokens, failed, thrown);
			this.chain = chain;
		}
		else {
			chain.failed(failed, thrown);
		}
		if (this.state.get() == ENDED) {
			return;
		}
		Call next = chain.next(failed);
		if (next != null) {
			this.call = next;
			execute(() -> leave(next.start()));
			return;
		}
		Throwable surfaced = chain.surfaced();
		if (hasFallback() && chain.mayFallBack()) {
			execute(() -> end(() -> recover(surfaced)));
		}
		else {
			end(() -> fail(surfaced));
		}
	}

	private void succeeded(Attempt attempt, @Nullable T result) {
		attempt.call.succeeded(result);
		attempt.call.close();
		FailoverChain chain = this.chain;
		if (chain != null) {
			chain.succeeded(attempt.call);
		}
		end(() -> complete(result));
	}

	private void end(Runnable delivery) {
		if (this.state.compareAndSet(BUSY, ENDED)) {
			delivery.run();
		}
	}

	boolean isEnded() {
		return this.state.get() == ENDED;
	}

	/** The caller has gone away. */
	void cancel() {
		Object seen = this.state.getAndSet(ENDED);
		if (seen instanceof AsyncCall<?>.Step step) {
			step.cancel();
			this.call.close();
		}
	}

	/** Goes on later, on a thread that may block, in the context of the caller. */
	private void execute(Runnable task) {
		this.engine.time().execute(this.context.apply(task));
	}

	/**
	 * Waits in a step.
	 * @return whether the call goes on; otherwise it has been cancelled, and what it held
	 * has been given back
	 */
	private boolean enter(Step step) {
		if (this.state.compareAndSet(BUSY, step)) {
			return true;
		}
		step.cancel();
		this.call.close();
		return false;
	}

	private static void nothing() {
	}

	/**
	 * Something that the call waits for. It is over once: by itself, by its timer, or
	 * because the call was cancelled.
	 */
	class Step {

		/** Goes on with the call, in a task. */
		Runnable whenOver = AsyncCall::nothing;

		/** Gives back what the call holds. */
		Runnable whenCancelled = AsyncCall::nothing;

		private final Runnable end = this::over;

		private volatile @Nullable Timer timer;

		private volatile boolean endsWithEngine;

		/** What it waits for has happened, perhaps before the call has come to wait. */
		private volatile boolean over;

		/**
		 * Goes to work on the call.
		 * @return whether nobody else does, and the call still waits in this step
		 */
		boolean take() {
			if (!AsyncCall.this.state.compareAndSet(this, BUSY)) {
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

		void expireIn(long nanos) {
			if (this.over) {
				over();
				return;
			}
			this.timer = AsyncCall.this.engine.time().schedule(nanos, this::expire);
			if (AsyncCall.this.state.get() != this) {
				stop();
			}
		}

		void endWithEngine() {
			this.endsWithEngine = true;
			AsyncCall.this.engine.await(this.end);
			if (AsyncCall.this.engine.isClosed()) {
				over();
			}
			if (AsyncCall.this.state.get() != this) {
				AsyncCall.this.engine.awaited(this.end);
			}
		}

		private void stop() {
			Timer timer = this.timer;
			if (timer != null) {
				timer.cancel();
				this.timer = null;
			}
			if (this.endsWithEngine) {
				AsyncCall.this.engine.awaited(this.end);
			}
		}

		void cancel() {
			stop();
			this.whenCancelled.run();
		}

	}

	/**
	 * One attempt under way. Its outcome is reported once; what comes after that, or
	 * after its time is over, changes nothing.
	 */
	class Attempt extends Step {

		private final Call call;

		private final long begun;

		private final long timeout;

		/** Stops the attempt itself. */
		private volatile Runnable canceller = AsyncCall::nothing;

		/** Whether its time is limited still. */
		private volatile boolean bounded = true;

		private volatile boolean ended;

		Attempt(Call call, long begun, long timeout) {
			this.call = call;
			this.begun = begun;
			this.timeout = timeout;
			this.whenCancelled = call::cancelledInFlight;
		}

		Call call() {
			return this.call;
		}

		/** How to stop it, which is done at once if nobody waits for it any more. */
		void cancelBy(Runnable canceller) {
			this.canceller = canceller;
			if (this.ended) {
				canceller.run();
			}
		}

		/** Stops what has begun, without an outcome. */
		void abort() {
			this.canceller.run();
		}

		private boolean takeToEnd() {
			if (!take()) {
				return false;
			}
			this.ended = true;
			return true;
		}

		void succeeded(@Nullable T result) {
			if (!takeToEnd()) {
				return;
			}
			try {
				AsyncCall.this.engine.check(result, this.call.guards().provider());
			}
			catch (Throwable ex) {
				decided(this.call.failed(ex));
				return;
			}
			AsyncCall.this.succeeded(this, result);
		}

		void failed(Throwable thrown) {
			if (takeToEnd()) {
				Throwable cause = (thrown instanceof CompletionException) ? thrown.getCause() : null;
				decided(this.call.failed((cause != null) ? cause : thrown));
			}
		}

		/**
		 * The first element of a stream has come, for which it was {@linkplain #take
		 * taken}: from now on the attempt is not bounded by its time any more.
		 */
		void delivers() {
			this.bounded = false;
			this.call.delivers();
			this.whenCancelled = () -> this.call.succeeded(null);
		}

		/**
		 * Waits for what comes next of a stream, after it was {@linkplain #take taken}.
		 */
		void goesOn() {
			enter(this);
		}

		/**
		 * A stream broke after its first element.
		 * @param thrown what it broke with
		 */
		void broke(Throwable thrown) {
			if (takeToEnd()) {
				Throwable broken = this.call.broke(thrown);
				this.call.close();
				end(() -> fail(broken));
			}
		}

		@Override
		void expire() {
			if (!take()) {
				return;
			}
			if (!this.bounded) {
				goesOn();
				return;
			}
			this.ended = true;
			this.canceller.run();
			decided(this.call
				.failed(new AttemptTimeoutException(this.call.name(), awaited(), Duration.ofNanos(this.timeout))));
		}

		/** Watches its time, once it has begun and has not ended at once. */
		void watch() {
			if (this.bounded && AsyncCall.this.state.get() == this) {
				expireIn(this.begun + this.timeout - AsyncCall.this.engine.time().nanoTime());
			}
		}

		@Override
		void cancel() {
			this.ended = true;
			this.canceller.run();
			super.cancel();
		}

	}

}
