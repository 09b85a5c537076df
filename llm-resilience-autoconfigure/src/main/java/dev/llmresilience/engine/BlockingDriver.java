package dev.llmresilience.engine;

import java.io.Serial;
import java.time.Duration;
import java.util.concurrent.CancellationException;

import dev.llmresilience.AttemptTimeoutException;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.breaker.RoomTicket;
import dev.llmresilience.engine.CallView.Invocation;
import dev.llmresilience.engine.WorkerAttempt.Outcome;
import dev.llmresilience.limiter.Ticket;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.policy.Decision;
import dev.llmresilience.policy.Decision.GiveUp;
import dev.llmresilience.policy.Decision.Retry;
import dev.llmresilience.time.TimeSource.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * Makes calls on the caller's own thread, which also does the waiting. Thread-safe.
 */
public final class BlockingDriver {

	private final CallEngine engine;

	/**
	 * Creates a driver.
	 * @param engine what its calls share with those of other drivers
	 */
	public BlockingDriver(CallEngine engine) {
		this.engine = engine;
	}

	/**
	 * Makes a call under one provider entry.
	 * @param <T> the type of the result
	 * @param provider whose guards the call is under
	 * @param options how it is made
	 * @param body one attempt; it may run several times
	 * @param fallback answers when the call has failed for good, or {@code null}
	 * @return what the attempt, or else the fallback, returned
	 * @throws Throwable what the last attempt threw, the same object, or a
	 * {@link LlmCallRefusedException} if there was no attempt
	 */
	public <T extends @Nullable Object> T call(Provider provider, CallOptions options, Body<T> body,
			@Nullable Fallback<T> fallback) throws Throwable {
		return call(CallPlan.of(provider, options), null, 0, body, fallback);
	}

	/**
	 * Makes a call.
	 * @param <T> the type of the result
	 * @param plan the provider entries that it is made under
	 * @param key the key whose guards it is under, or {@code null} for those of the entry
	 * @param tokens the tokens that it is estimated to use, zero or less if unknown
	 * @param body one attempt; it may run several times
	 * @param fallback answers when the call has failed for good, or {@code null}
	 * @return what the attempt, or else the fallback, returned
	 * @throws Throwable what the last attempt threw, the same object, or a
	 * {@link LlmCallRefusedException} if there was no attempt
	 */
	public <T extends @Nullable Object> T call(CallPlan plan, @Nullable Object key, long tokens, Body<T> body,
			@Nullable Fallback<T> fallback) throws Throwable {
		Invocation invocation = new Invocation(this.engine, plan, key, tokens);
		Call call = invocation.begin();
		FailoverChain chain;
		try {
			return call(call, body);
		}
		catch (Throwable ex) {
			chain = new FailoverChain(invocation, call, ex);
		}
		Call next = chain.next(call);
		while (next != null) {
			try {
				T result = call(next, body);
				chain.succeeded(next);
				return result;
			}
			catch (Throwable ex) {
				chain.failed(next, ex);
			}
			next = chain.next(next);
		}
		if (fallback == null || !chain.mayFallBack()) {
			throw chain.surfaced();
		}
		return fallback.recover(chain.surfaced());
	}

	private <T extends @Nullable Object> T call(Call call, Body<T> body) throws Throwable {
		call.enter();
		try {
			return attempts(call, body);
		}
		finally {
			call.leave();
			call.close();
		}
	}

	private <T extends @Nullable Object> T attempts(Call call, Body<T> body) throws Throwable {
		long now = call.start();
		while (true) {
			now = leave(call, now);
			T result;
			try {
				result = call.isOnWorker() ? onWorker(call, body, now) : onCaller(call, body, now);
				this.engine.judge().check(result, call.entry());
			}
			catch (LeftBehind ex) {
				throw call.refused(Refusals.shutdown(call.name()));
			}
			catch (Throwable ex) {
				Decision decision = call.failed(ex);
				if (decision instanceof GiveUp giveUp) {
					throw call.giveUp(giveUp);
				}
				now = backoff(call, (Retry) decision);
				continue;
			}
			call.succeeded(result);
			return result;
		}
	}

	private static <T extends @Nullable Object> T onCaller(Call call, Body<T> body, long now) throws Throwable {
		call.beginHere(now);
		return body.run();
	}

	private <T extends @Nullable Object> T onWorker(Call call, Body<T> body, long now) throws Throwable {
		long nanos = call.begin(now) - now;
		WorkerAttempt<T> attempt = new WorkerAttempt<>(this.engine.time(), call, body);
		this.engine.time().execute(this.engine.context().capture().apply(attempt));
		Runnable wake = attempt::wake;
		this.engine.inFlight(wake);
		Outcome<T> outcome;
		try {
			outcome = attempt.await(nanos);
		}
		catch (InterruptedException ex) {
			attempt.leave();
			Thread.currentThread().interrupt();
			throw new CancellationException("Interrupted while an attempt was under way");
		}
		finally {
			this.engine.landed(wake);
		}
		if (outcome == null) {
			attempt.leave();
			if (this.engine.isEnded()) {
				call.leftInFlight();
				throw new LeftBehind();
			}
			throw new AttemptTimeoutException(call.name(), "answer", Duration.ofNanos(nanos));
		}
		return outcome.get();
	}

	/**
	 * Gets past the guards.
	 * @return when the attempt may begin: now
	 */
	private long leave(Call call, long now) throws Throwable {
		if (call.guards().waitsForBreaker()) {
			LlmCallRefusedException refusal = awaitBreaker(call, now);
			if (refusal != null) {
				throw call.refused(refusal);
			}
			return pass(call, this.engine.time().nanoTime());
		}
		return pass(call, now);
	}

	private long pass(Call call, long now) throws Throwable {
		LlmCallRefusedException refusal = call.admit(now);
		call.guards().back();
		long left = now;
		if (refusal == null && !call.guards().trySlot(now)) {
			refusal = queue(call, now);
			left = this.engine.time().nanoTime();
		}
		if (refusal == null) {
			refusal = call.guards().takePermit(left);
			if (refusal != null && call.guards().isPatient()) {
				return leave(call, this.engine.time().nanoTime());
			}
		}
		if (refusal != null) {
			throw call.refused(refusal);
		}
		return left;
	}

	private @Nullable LlmCallRefusedException awaitBreaker(Call call, long now) throws Throwable {
		Waiter waiter = this.engine.time().waiter();
		RoomTicket ticket = call.guards().await(call.deadline(), waiter::signal);
		try {
			if (ticket.state() == RoomTicket.State.WAITING) {
				waiter.await(call.deadline() - now);
			}
		}
		catch (InterruptedException ex) {
			call.guards().awaited(ticket);
			call.guards().abandon();
			Thread.currentThread().interrupt();
			throw call.cancelled();
		}
		return call.guards().awaited(ticket);
	}

	/** Waits for a slot of the limiter. */
	private @Nullable LlmCallRefusedException queue(Call call, long now) throws Throwable {
		Waiter waiter = this.engine.time().waiter();
		Ticket ticket = call.guards().limiter().enqueue(now, call.deadline(), call.isRetry(), waiter::signal);
		if (ticket.state() == State.WAITING) {
			try {
				waiter.await();
			}
			catch (InterruptedException ex) {
				call.guards().leaveQueue(ticket);
				Thread.currentThread().interrupt();
				throw call.cancelled();
			}
		}
		return call.guards().queued(ticket, this.engine.time().nanoTime());
	}

	/**
	 * Waits before a retry.
	 * @return when it is over: now
	 */
	private long backoff(Call call, Retry retry) throws Throwable {
		try {
			this.engine.pause(retry.delayNanos());
			return this.engine.time().nanoTime();
		}
		catch (InterruptedException ex) {
			call.guards().abandon();
			Thread.currentThread().interrupt();
			throw call.cancelled();
		}
	}

	/** An attempt was left behind because of a shutdown. */
	private static final class LeftBehind extends Exception {

		@Serial
		private static final long serialVersionUID = 1L;

		LeftBehind() {
			super(null, null, false, false);
		}

	}

	/**
	 * One attempt.
	 *
	 * @param <T> the type of the result
	 */
	@FunctionalInterface
	public interface Body<T extends @Nullable Object> {

		/**
		 * Makes the attempt.
		 * @return the result
		 * @throws Throwable the failure
		 */
		T run() throws Throwable;

	}

	/**
	 * Answers when a call has failed for good.
	 *
	 * @param <T> the type of the result
	 */
	@FunctionalInterface
	public interface Fallback<T extends @Nullable Object> {

		/**
		 * Answers instead.
		 * @param failure what the caller would get
		 * @return the result
		 * @throws Throwable what the caller gets instead
		 */
		T recover(Throwable failure) throws Throwable;

	}

}
