package dev.llmresilience.engine;

import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.limiter.RateLimiter;
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
	 * Makes a call whose tokens nobody has estimated.
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
		return call(provider, options, 0, body, fallback);
	}

	/**
	 * Makes a call.
	 * @param <T> the type of the result
	 * @param provider whose guards the call is under
	 * @param options how it is made
	 * @param tokens the tokens that it is estimated to use, zero or less if unknown
	 * @param body one attempt; it may run several times
	 * @param fallback answers when the call has failed for good, or {@code null}
	 * @return what the attempt, or else the fallback, returned
	 * @throws Throwable what the last attempt threw, the same object, or a
	 * {@link LlmCallRefusedException} if there was no attempt
	 */
	public <T extends @Nullable Object> T call(Provider provider, CallOptions options, long tokens, Body<T> body,
			@Nullable Fallback<T> fallback) throws Throwable {
		Call call = new Call(this.engine, provider, options, tokens);
		Throwable failure;
		call.enter();
		try {
			return attempts(call, body);
		}
		catch (Throwable ex) {
			failure = ex;
		}
		finally {
			call.leave();
		}
		if (fallback == null || !call.mayFallBack()) {
			throw failure;
		}
		return fallback.recover(failure);
	}

	private <T extends @Nullable Object> T attempts(Call call, Body<T> body) throws Throwable {
		long now = call.start();
		while (true) {
			now = leave(call, now);
			call.begin(now);
			T result;
			try {
				result = body.run();
				this.engine.check(result, call.guards().provider());
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

	/**
	 * Gets past the guards.
	 * @return when the attempt may begin: now
	 */
	private long leave(Call call, long now) throws Throwable {
		LlmCallRefusedException refusal = call.admit(now);
		call.guards().back();
		long left = now;
		if (refusal == null && !call.guards().provider().limiter().tryAcquire(call.guards().permit(), now)) {
			refusal = queue(call, now);
			left = this.engine.time().nanoTime();
		}
		if (refusal == null) {
			refusal = call.guards().takePermit(left);
		}
		if (refusal != null) {
			throw call.refused(refusal);
		}
		return left;
	}

	/** Waits for a slot of the limiter. */
	private @Nullable LlmCallRefusedException queue(Call call, long now) throws Throwable {
		Provider provider = call.guards().provider();
		RateLimiter limiter = provider.limiter();
		Waiter waiter = this.engine.time().waiter();
		Ticket ticket = limiter.enqueue(call.guards().permit(), now, call.deadline(), call.isRetry(), waiter::signal);
		if (ticket.state() == State.WAITING) {
			try {
				waiter.await(ticket.patienceNanos());
				limiter.leave(ticket);
			}
			catch (InterruptedException ex) {
				if (!limiter.leave(ticket) && ticket.state() == State.GRANTED) {
					limiter.giveBack(call.guards().permit());
				}
				call.guards().abandon();
				Thread.currentThread().interrupt();
				throw call.cancelled();
			}
		}
		if (ticket.state() == State.GRANTED) {
			return null;
		}
		call.guards().abandon();
		return Refusals.limiter(provider, ticket, this.engine.time().now());
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
