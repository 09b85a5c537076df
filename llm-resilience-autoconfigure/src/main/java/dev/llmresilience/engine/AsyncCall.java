package dev.llmresilience.engine;

import java.time.Duration;
import java.util.concurrent.CompletionException;

import dev.llmresilience.AttemptTimeoutException;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.breaker.RoomTicket;
import dev.llmresilience.engine.Call.Visit;
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

	private final CallPlan plan;

	private final @Nullable Object key;

	private final long tokens;

	/** Written by whoever is at work. */
	private volatile Call call;

	private @Nullable FailoverChain chain;

	AsyncCall(CallEngine engine, CallPlan plan, @Nullable Object key, long tokens, Call call) {
		super(engine);
		this.plan = plan;
		this.key = key;
		this.tokens = tokens;
		this.call = call;
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
		Ticket ticket = call.guards().enqueue(now, call.deadline(), call.isRetry(), step::over);
		if (ticket.state() != State.WAITING) {
			queued(ticket);
			return;
		}
		step.whenOver = () -> {
			call.guards().expire(ticket);
			queued(ticket);
		};
		step.whenCancelled = () -> {
			call.guards().leaveQueue(ticket);
			call.gone();
		};
		if (enter(step)) {
			step.expireIn(ticket.patienceNanos());
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
		Attempt attempt = new Attempt(call, now, timeout(call, call.begin(now) - now));
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

	private void decided(Decision decision) {
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
	private void failed(Throwable thrown) {
		Call failed = this.call;
		failed.close();
		FailoverChain chain = this.chain;
		if (chain == null) {
			chain = new FailoverChain(engine(), this.plan, this.key, this.tokens, failed, thrown);
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

	private void succeeded(Attempt attempt, @Nullable T result) {
		try {
			attempt.call.succeeded(result);
		}
		catch (RuntimeException | Error ex) {
			failed(ex);
			return;
		}
		attempt.call.close();
		FailoverChain chain = this.chain;
		if (chain != null) {
			chain.succeeded(attempt.call);
		}
		end(() -> complete(result));
	}

	@Override
	void close() {
		this.call.close();
	}

	/**
	 * One attempt under way. Its outcome is reported once; what comes after that, or
	 * after its time is over, changes nothing. From the first element of a stream on the
	 * call waits in another step for each element, so that whoever finds that it has been
	 * silent can end just that silence.
	 */
	class Attempt extends Step {

		private final Call call;

		private final long begun;

		private final long timeout;

		/** What the call waits in while nobody is at work: this until it delivers. */
		private volatile Step step = this;

		/** Stops the attempt itself. */
		private volatile Runnable canceller = Steps::nothing;

		private volatile boolean ended;

		private final Runnable leaver = this::leave;

		Attempt(Call call, long begun, long timeout) {
			this.call = call;
			this.begun = begun;
			this.timeout = timeout;
			this.whenCancelled = () -> stop(call::goneInFlight);
		}

		Call call() {
			return this.call;
		}

		boolean isEnded() {
			return this.ended;
		}

		/** How to stop it, which is done at once if nobody waits for it any more. */
		void cancelBy(Runnable canceller) {
			this.canceller = canceller;
			if (this.ended) {
				canceller.run();
			}
		}

		private void stop(Runnable then) {
			ended();
			try {
				this.canceller.run();
			}
			finally {
				then.run();
			}
		}

		private void ended() {
			this.ended = true;
			engine().landed(this.leaver);
		}

		/** Leaves it behind because of a shutdown. */
		private void leave() {
			if (claim()) {
				execute(() -> stop(() -> {
					this.call.leftInFlight();
					AsyncCall.this.failed(this.call.refused(Refusals.shutdown(this.call.name())));
				}));
			}
		}

		/** Goes to work on the call, to deliver something of this attempt. */
		boolean claim() {
			return this.step.take();
		}

		private boolean claimToEnd() {
			if (!claim()) {
				return false;
			}
			ended();
			return true;
		}

		void succeeded(@Nullable T result) {
			if (!claimToEnd()) {
				return;
			}
			try {
				engine().check(result, this.call.guards().provider());
			}
			catch (Throwable ex) {
				decided(this.call.failed(ex));
				return;
			}
			AsyncCall.this.succeeded(this, result);
		}

		void failed(Throwable thrown) {
			if (claimToEnd()) {
				Throwable cause = (thrown instanceof CompletionException) ? thrown.getCause() : null;
				decided(this.call.failed((cause != null) ? cause : thrown));
			}
		}

		/**
		 * Stops the attempt, for which it was {@linkplain #claim claimed}, and takes it
		 * for failed.
		 * @param thrown the failure
		 * @param breaks whether that breaks a stream which has delivered
		 */
		void stopWith(Throwable thrown, boolean breaks) {
			stop(breaks ? () -> broken(thrown) : () -> decided(this.call.failed(thrown)));
		}

		/**
		 * The first element of a stream has come, for which it was {@linkplain #claim
		 * claimed}: from now on the attempt is not bounded by its time any more.
		 */
		void delivers() {
			this.call.delivers();
			beginSilence();
		}

		/** The call is about to wait for another element. */
		void beginSilence() {
			this.step = new Silence();
		}

		/**
		 * Waits for what comes next of a stream, after it was {@linkplain #claim
		 * claimed}.
		 */
		void goesOn() {
			enter(this.step);
		}

		/** What a stream that delivers waits in, until its next element comes. */
		Step silence() {
			return this.step;
		}

		/**
		 * A stream broke after its first element.
		 * @param thrown what it broke with
		 */
		void broke(Throwable thrown) {
			if (claimToEnd()) {
				broken(thrown);
			}
		}

		private void broken(Throwable thrown) {
			Throwable broken = this.call.broke(thrown);
			this.call.close();
			end(() -> fail(broken));
		}

		@Override
		void expire() {
			expire(this, awaited(), this.timeout, false);
		}

		/**
		 * Gives up waiting.
		 * @param step what was waited in for too long
		 * @param awaited what did not come
		 * @param nanos within which time
		 * @param breaks whether that breaks a stream which has delivered
		 * @return whether nothing has come in the meantime
		 */
		boolean expire(Step step, String awaited, long nanos, boolean breaks) {
			if (!step.take()) {
				return false;
			}
			execute(() -> stopWith(new AttemptTimeoutException(this.call.name(), awaited, Duration.ofNanos(nanos)),
					breaks));
			return true;
		}

		/** Watches its time, once it has begun and has not ended at once. */
		void watch() {
			if (waitsIn(this)) {
				expireIn(this.begun + this.timeout - engine().time().nanoTime());
			}
			if (!this.ended) {
				engine().inFlight(this.leaver);
				if (this.ended) {
					engine().landed(this.leaver);
				}
			}
		}

		/**
		 * Waiting for the next element. A stream that nobody wants any more is a success.
		 */
		private final class Silence extends Step {

			Silence() {
				this.whenCancelled = () -> Attempt.this.stop(() -> Attempt.this.call.succeeded(null));
			}

		}

	}

}
