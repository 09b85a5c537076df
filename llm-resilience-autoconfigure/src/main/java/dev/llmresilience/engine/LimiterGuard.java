package dev.llmresilience.engine;

import java.time.Duration;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.Priority;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.limiter.Permit;
import dev.llmresilience.limiter.RateLimiter;
import dev.llmresilience.limiter.Ticket;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * What one call holds of its entry's limiter: a slot, or a place in the queue, and how
 * long it has waited there. Belongs to one call; not thread-safe.
 */
final class LimiterGuard {

	private final Provider provider;

	private final TimeSource time;

	/** That of the call that this one is nested in. */
	private final @Nullable LimiterGuard outer;

	private final Permit permit;

	/** When it came into the queue. */
	private long queued;

	/** How long it has waited there. */
	private long queuedNanos;

	/** Whether the limiter waits to hear of an attempt. */
	private boolean underWay;

	LimiterGuard(Provider provider, TimeSource time, @Nullable LimiterGuard outer, Priority priority, long tokens,
			long start) {
		this.provider = provider;
		this.time = time;
		this.outer = outer;
		this.permit = new Permit(provider, priority, tokens, outerPlace(), start);
	}

	/** Reaching the same limiter again must not wait for the place of the call around. */
	private boolean outerPlace() {
		for (LimiterGuard around = this.outer; around != null; around = around.outer) {
			if (around.limiter() == limiter() && around.permit.hasPlace()) {
				return true;
			}
		}
		return false;
	}

	private RateLimiter limiter() {
		return this.provider.limiter();
	}

	/** The tokens that the call is taken to use, zero if unknown. */
	long tokens() {
		return this.permit.tokens();
	}

	boolean countsTokens() {
		return limiter().countsTokens();
	}

	/**
	 * Takes a slot if there is one.
	 * @param now the monotonic clock
	 * @return whether there was one
	 */
	boolean trySlot(long now) {
		return limiter().tryAcquire(this.permit, now);
	}

	/**
	 * Joins the queue.
	 * @param now the monotonic clock
	 * @param deadline the latest moment at which going on makes sense
	 * @param retry whether this is for a retry
	 * @param listener is told when the wait is over
	 * @return the ticket
	 */
	Ticket enqueue(long now, long deadline, boolean retry, Runnable listener) {
		this.queued = now;
		return limiter().enqueue(this.permit, now, deadline, retry, listener);
	}

	/**
	 * A wait in the queue is over.
	 * @param now the monotonic clock
	 * @return how long it took, in nanoseconds
	 */
	long waited(long now) {
		long nanos = now - this.queued;
		if (nanos > 0) {
			this.queuedNanos += nanos;
			this.provider.monitor().limiterWaited(nanos);
		}
		return nanos;
	}

	/**
	 * Leaves the queue without having waited to the end.
	 * @param ticket the ticket
	 */
	void leaveQueue(Ticket ticket) {
		waited(this.time.nanoTime());
		if (!limiter().leave(ticket) && ticket.state() == State.GRANTED) {
			giveBackSlot();
		}
	}

	/**
	 * How long the call has waited in the queue since this was asked last.
	 * @return nanoseconds
	 */
	long takeQueuedNanos() {
		long nanos = this.queuedNanos;
		this.queuedNanos = 0;
		return nanos;
	}

	/** Gives back a slot with which nothing was sent. */
	void giveBackSlot() {
		limiter().giveBack(this.permit);
	}

	/**
	 * An attempt is being sent.
	 * @param now the monotonic clock
	 */
	void send(long now) {
		this.underWay = true;
		limiter().onSend(this.permit, now);
	}

	void succeeded(@Nullable TokenUsage usage) {
		this.underWay = false;
		limiter().onSuccess(this.permit, usage);
	}

	/**
	 * Whether the limiter will space out the retry after a failure, so that it needs
	 * neither backoff nor budget.
	 */
	boolean paces(LlmFailure failure) {
		return failure.kind() == FailureKind.RATE_LIMITED && limiter().paces();
	}

	/**
	 * Tells the limiter of a failure, and asks it when to come back after a rate limit
	 * that it paces.
	 * @param failure the failure
	 * @param hint what the server said about when to come back, capped, in nanoseconds
	 * @return the failure with the limiter's word in place of a hint that can be waited
	 * for, or as it was
	 */
	LlmFailure paced(LlmFailure failure, long hint) {
		if (!paces(failure)) {
			limiter().onLimits(this.permit.sent(), failure.limits());
			this.underWay = false;
			limiter().onFailure(this.permit, mayHaveCounted(failure));
			return failure;
		}
		this.underWay = false;
		long wait = limiter().onRejected(this.permit, (failure.hint() != null) ? hint : -1, failure.limits());
		Duration asked = failure.hint();
		boolean tooLong = asked != null && asked.compareTo(this.provider.settings().policy().maxRetryAfter()) > 0;
		return tooLong ? failure : failure.withHint(Duration.ofNanos(wait));
	}

	/** Whether the provider may have counted the tokens of an attempt all the same. */
	private static boolean mayHaveCounted(LlmFailure failure) {
		return failure.outcomeUnknown() || failure.kind() == FailureKind.CANCELLED
				|| failure.kind() == FailureKind.APPLICATION;
	}

	/** The call that the limiter expected is back. */
	void back() {
		limiter().back(this.permit);
	}

	/** The attempt has said nothing, or there was none. */
	void giveBack() {
		if (this.underWay) {
			this.underWay = false;
			limiter().onFailure(this.permit, true);
		}
	}

}
