package dev.llmresilience.engine;

import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.breaker.RoomTicket;
import dev.llmresilience.engine.CallView.Invocation;
import dev.llmresilience.engine.CallView.Visit;
import dev.llmresilience.limiter.Ticket;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.policy.Decision;
import dev.llmresilience.policy.Decision.GiveUp;
import dev.llmresilience.policy.Decision.Retry;
import org.jspecify.annotations.Nullable;

/**
 * An invocation whose attempts end later, on any thread, and which waits without one.
 * Code of the application runs on the thread that made the call, for the first attempt if
 * it need not wait, and else in {@link dev.llmresilience.time.TimeSource#execute tasks},
 * never on the timer's thread.
 *
 * @param <T> the type of the result
 */
abstract class AsyncCall<T extends @Nullable Object> extends Steps {

	private final Invocation invocation;

	/** Written by whoever is at work. */
	private volatile Call call;

	private @Nullable FailoverChain chain;

	AsyncCall(Invocation invocation) {
		super(invocation.engine());
		this.invocation = invocation;
		this.call = invocation.begin();
	}

	/**
	 * Begins an attempt, which is reported as {@link AsyncAttempt#succeeded succeeded} or
	 * {@link AsyncAttempt#failed failed} on any thread, perhaps at once.
	 * @param attempt the attempt
	 * @throws Throwable if it failed to begin
	 */
	abstract void begin(AsyncAttempt<T> attempt) throws Throwable;

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
				pass(engine().time().nanoTime());
			}
		};
		step.whenCancelled = () -> {
			call.guards().awaited(ticket);
			call.gone();
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
		if (refusal != null || call.guards().trySlot(now)) {
			left(refusal, now);
			return;
		}
		Step step = new Step();
		Ticket ticket = call.guards().limiter().enqueue(now, call.deadline(), call.isRetry(), step::over);
		if (ticket.state() != State.WAITING) {
			queued(ticket);
			return;
		}
		step.whenOver = () -> queued(ticket);
		step.whenCancelled = () -> {
			call.guards().leaveQueue(ticket);
			call.gone();
		};
		if (enter(step)) {
			step.await();
		}
	}

	private void queued(Ticket ticket) {
		long now = engine().time().nanoTime();
		left(this.call.guards().queued(ticket, now), now);
	}

	private void left(@Nullable LlmCallRefusedException refused, long now) {
		LlmCallRefusedException refusal = (refused != null) ? refused : this.call.guards().takePermit(now);
		if (refused == null && refusal != null && this.call.guards().isPatient()) {
			leave(engine().time().nanoTime());
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
		AsyncAttempt<T> attempt = new AsyncAttempt<>(this, call, now, timeout(call, call.begin(now) - now));
		if (!enter(attempt)) {
			return;
		}
		Visit visit = call.visit();
		try {
			begin(attempt);
		}
		catch (Throwable ex) {
			attempt.failed(ex);
		}
		finally {
			visit.close();
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

	void decided(Decision decision) {
		if (decision instanceof GiveUp giveUp) {
			failed(this.call.giveUp(giveUp));
			return;
		}
		Call call = this.call;
		Step step = new Step();
		step.whenOver = () -> leave(engine().time().nanoTime());
		step.whenCancelled = call::gone;
		if (enter(step)) {
			step.expireIn(((Retry) decision).delayNanos());
			step.endWithEngine();
		}
	}

	/** The call has failed for good under this provider. */
	void failed(Throwable thrown) {
		Call failed = this.call;
		failed.close();
		FailoverChain chain = this.chain;
		if (chain == null) {
			chain = new FailoverChain(this.invocation, failed, thrown);
			this.chain = chain;
		}
		else {
			chain.failed(failed, thrown);
		}
		if (isEnded()) {
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

	void succeeded(Call call, @Nullable T result) {
		try {
			call.succeeded(result);
		}
		catch (RuntimeException | Error ex) {
			failed(ex);
			return;
		}
		call.close();
		FailoverChain chain = this.chain;
		if (chain != null) {
			chain.succeeded(call);
		}
		end(() -> complete(result));
	}

	@Override
	void close() {
		this.call.close();
	}

}
