package dev.llmresilience.engine;

import java.time.Duration;
import java.time.Instant;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.Priority;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.breaker.QuotaLatch;
import dev.llmresilience.breaker.RoomTicket;
import dev.llmresilience.budget.RetryBudget;
import dev.llmresilience.engine.CallMonitor.Intervention;
import dev.llmresilience.limiter.Permit;
import dev.llmresilience.limiter.RateLimiter;
import dev.llmresilience.limiter.Ticket;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.policy.Decision.Retry;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * What one call holds of its provider's shared guards, and what it tells them. Belongs to
 * one call; not thread-safe.
 * <p>
 * Invariant: between {@link #admit} and {@link #takePermit} it holds at most the quota
 * permits and a budget token; after {@link #takePermit} the breaker's permit too, and the
 * slot of the limiter counts as used. {@link #succeeded}, {@link #failed} and
 * {@link #abandon} leave it with nothing.
 */
final class Guards {

	private final Provider provider;

	/** Whether the call is only observed: then each guard is asked, and none obeyed. */
	private final boolean observing;

	private final TimeSource time;

	/** Those of the call that this one is nested in. */
	private final @Nullable Guards outer;

	/** Whether a refusal was not obeyed. */
	private boolean ignored;

	/** Stands in the limiter's queue for it, and is charged. */
	private @Nullable ShadowWait shadow;

	private final QuotaGuard quota;

	private final BreakerGuard breaker;

	private final Priority priority;

	/** What it has of the limiter. */
	private final Permit permit;

	/** When it came into the limiter's queue. */
	private long queued;

	/** How long it has waited there. */
	private long queuedNanos;

	/** When it began to wait for the breaker. */
	private long joined;

	/** How long it has waited for that. */
	private long roomNanos;

	/** Whether the limiter waits to hear of an attempt. */
	private boolean underWay;

	/** Whether a budget token has been paid for an attempt that has not been made. */
	private boolean token;

	/** Whether the attempt under way was paid for with a budget token. */
	private boolean tokenUsed;

	Guards(Provider provider, TimeSource time, @Nullable Guards outer, Priority priority, long tokens, long start,
			boolean observing) {
		this.provider = provider;
		this.observing = observing;
		this.priority = priority;
		this.time = time;
		this.outer = outer;
		this.quota = new QuotaGuard(provider, (outer != null) ? outer.quota : null);
		this.breaker = new BreakerGuard(provider, (outer != null) ? outer.breaker : null);
		this.permit = new Permit(provider, priority, tokens, outerPlace(), start);
	}

	/** Reaching the same limiter again must not wait for the place of the call around. */
	private boolean outerPlace() {
		for (Guards around = this.outer; around != null; around = around.outer) {
			if (around.provider.limiter() == this.provider.limiter() && around.permit.hasPlace()) {
				return true;
			}
		}
		return false;
	}

	Provider provider() {
		return this.provider;
	}

	Permit permit() {
		return this.permit;
	}

	boolean countsTokens() {
		return this.provider.limiter().countsTokens();
	}

	@Nullable LlmCallRefusedException admit() {
		QuotaLatch latched = this.quota.acquire();
		boolean refused = latched != null || this.breaker.refuses();
		if (refused && this.observing) {
			abandon();
			this.ignored = true;
			this.provider.monitor().observed(Intervention.REFUSED);
			return null;
		}
		if (latched != null) {
			abandon();
			return Refusals.quota(this.provider.name(), latched, this.time.now());
		}
		if (refused) {
			abandon();
			return refusedByBreaker();
		}
		return null;
	}

	/** Whether the call waits for the breaker instead of failing. */
	boolean isPatient() {
		return this.breaker.isPatient();
	}

	/** Whether the call has to wait for the breaker now. */
	boolean waitsForBreaker() {
		return !this.observing && this.breaker.waits();
	}

	/**
	 * Waits for the breaker.
	 * @param deadline the latest moment at which going on makes sense
	 * @param listener is told when the wait is over
	 * @return the ticket
	 */
	RoomTicket await(long deadline, Runnable listener) {
		this.joined = this.time.nanoTime();
		return this.breaker.await(deadline, listener);
	}

	/**
	 * Tells what a wait for the breaker came to, once it is over.
	 * @param ticket the ticket
	 * @return why the call may not go on, or {@code null} if it may
	 */
	@Nullable LlmCallRefusedException awaited(RoomTicket ticket) {
		long nanos = this.time.nanoTime() - this.joined;
		if (nanos > 0) {
			this.roomNanos += nanos;
			this.provider.monitor().breakerWaited(nanos);
		}
		if (this.breaker.awaited(ticket)) {
			return null;
		}
		abandon();
		return (ticket.state() == RoomTicket.State.REFUSED_CLOSED) ? Refusals.shutdown(this.provider.name())
				: refusedByBreaker();
	}

	private LlmCallRefusedException refusedByBreaker() {
		return Refusals.breaker(this.provider.name(), this.provider.breaker());
	}

	/** Whether this attempt is a trial of a call that can wait for another one. */
	boolean isPatientTrial() {
		return this.breaker.isPatientTrial();
	}

	/**
	 * Takes a slot of the limiter if there is one.
	 * @param now the monotonic clock
	 * @return whether there was one
	 */
	boolean trySlot(long now) {
		if (this.ignored) {
			// Refused before, it would not have come to the limiter.
			return true;
		}
		boolean free = this.provider.limiter().tryAcquire(this.permit, now);
		if (!free && this.observing) {
			this.shadow = new ShadowWait(this.provider, this.time, this.priority, this.permit.tokens(), now);
			this.shadow.begin();
			return true;
		}
		return free;
	}

	/**
	 * Joins the limiter's queue.
	 * @param now the monotonic clock
	 * @param deadline the latest moment at which going on makes sense
	 * @param retry whether this is for a retry
	 * @param listener is told when the wait is over
	 * @return the ticket
	 */
	Ticket enqueue(long now, long deadline, boolean retry, Runnable listener) {
		this.queued = now;
		return this.provider.limiter().enqueue(this.permit, now, deadline, retry, listener);
	}

	/** The wait in the limiter's queue has lasted long enough. */
	void expire(Ticket ticket) {
		this.provider.limiter().leave(ticket);
	}

	/**
	 * Tells what a wait in the limiter's queue came to, once it is over.
	 * @param ticket the ticket
	 * @param now the monotonic clock
	 * @return why the call may not go on, or {@code null} if it may
	 */
	@Nullable LlmCallRefusedException queued(Ticket ticket, long now) {
		waited(now);
		if (ticket.state() == State.GRANTED) {
			return null;
		}
		abandon();
		return Refusals.limiter(this.provider, ticket, this.time.now());
	}

	private void waited(long now) {
		long nanos = now - this.queued;
		if (nanos > 0) {
			this.queuedNanos += nanos;
			this.provider.monitor().limiterWaited(nanos);
		}
	}

	/**
	 * Leaves the limiter's queue without having waited to the end.
	 * @param ticket the ticket
	 */
	void leaveQueue(Ticket ticket) {
		waited(this.time.nanoTime());
		RateLimiter limiter = this.provider.limiter();
		if (!limiter.leave(ticket) && ticket.state() == State.GRANTED) {
			limiter.giveBack(this.permit);
		}
		abandon();
	}

	/**
	 * How long the call has waited in the limiter's queue since this was asked last.
	 * @return nanoseconds
	 */
	long takeQueuedNanos() {
		long nanos = this.queuedNanos;
		this.queuedNanos = 0;
		return nanos;
	}

	/**
	 * How long the call has waited for the breaker since this was asked last.
	 * @return nanoseconds
	 */
	long takeRoomNanos() {
		long nanos = this.roomNanos;
		this.roomNanos = 0;
		return nanos;
	}

	/**
	 * Takes the breaker's permit. The caller has a slot of the limiter, which goes back
	 * if the permit is refused; a place among those let in stays.
	 * @param now the monotonic clock
	 * @return why the call may not go on, or {@code null} if it may
	 */
	@Nullable LlmCallRefusedException takePermit(long now) {
		if (!this.ignored && !this.breaker.tryAcquire() && !this.observing) {
			this.provider.limiter().giveBack(this.permit);
			giveBack();
			back();
			return refusedByBreaker();
		}
		this.tokenUsed = this.token;
		this.token = false;
		this.underWay = true;
		if (this.shadow == null) {
			this.provider.limiter().onSend(this.permit, now);
		}
		return null;
	}

	void succeeded(long sent, @Nullable TokenUsage usage) {
		this.underWay = false;
		this.provider.limiter().onSuccess(this.permit, leaveShadow(usage) ? null : usage);
		this.breaker.succeeded(this.breaker.measuresDuration() ? this.time.nanoTime() - sent : 0);
		this.quota.succeeded();
		RetryBudget budget = this.provider.budget();
		if (budget != null) {
			budget.onSuccess();
		}
	}

	/**
	 * A stream has begun to deliver. A trial or probe need not wait for its end; whoever
	 * holds none still reports that.
	 */
	void delivers() {
		this.breaker.delivers();
		this.quota.delivers();
	}

	/**
	 * Whether the limiter will space out the retry after a failure, so that it needs
	 * neither backoff nor budget.
	 */
	boolean paces(LlmFailure failure) {
		return failure.kind() == FailureKind.RATE_LIMITED && this.provider.limiter().paces();
	}

	/**
	 * Tells the limiter of a failure, and asks it when to come back after a rate limit
	 * that it paces.
	 * @param failure the failure
	 * @return the failure with the limiter's word in place of a hint that can be waited
	 * for, or as it was
	 */
	LlmFailure paced(LlmFailure failure) {
		if (!paces(failure)) {
			this.provider.limiter().onLimits(this.permit.sent(), failure.limits());
			this.underWay = false;
			this.provider.limiter().onFailure(this.permit, mayHaveCounted(failure));
			return failure;
		}
		this.underWay = false;
		Duration hint = failure.hint();
		long wait = this.provider.limiter()
			.onRejected(this.permit, (hint != null) ? cappedHint(failure) : -1, failure.limits());
		boolean tooLong = hint != null && hint.compareTo(this.provider.settings().policy().maxRetryAfter()) > 0;
		return tooLong ? failure : failure.withHint(Duration.ofNanos(wait));
	}

	private boolean leaveShadow(@Nullable TokenUsage usage) {
		ShadowWait shadow = this.shadow;
		if (shadow == null) {
			return false;
		}
		this.shadow = null;
		shadow.callEnded(usage);
		return true;
	}

	/** Whether the provider may have counted the tokens of an attempt all the same. */
	private static boolean mayHaveCounted(LlmFailure failure) {
		return failure.outcomeUnknown() || failure.kind() == FailureKind.CANCELLED
				|| failure.kind() == FailureKind.APPLICATION;
	}

	/** The call that the limiter expected is back. */
	void back() {
		this.provider.limiter().back(this.permit);
	}

	void failed(LlmFailure failure, boolean ladderSpent) {
		if (failure.kind() == FailureKind.QUOTA_EXHAUSTED) {
			this.quota.exhausted(failure);
		}
		this.breaker.failed(failure, ladderSpent, cappedHint(failure));
		if (failure.kind() == FailureKind.CANCELLED && this.tokenUsed) {
			release();
		}
		this.tokenUsed = false;
		giveBack();
	}

	/** What the guards take from a hint is bounded, however long the server wants. */
	private long cappedHint(LlmFailure failure) {
		Duration hint = failure.hint();
		Duration most = this.provider.settings().policy().maxRetryAfter();
		return (hint == null) ? 0 : (hint.compareTo(most) > 0) ? most.toNanos() : hint.toNanos();
	}

	/**
	 * Pays for a retry.
	 * @return why there can be none, or {@code null} if there can
	 */
	@Nullable GiveUpReason payFor(Retry retry, long now) {
		if (this.breaker.refusesUntil(now + retry.delayNanos())) {
			return GiveUpReason.BREAKER;
		}
		RetryBudget budget = this.provider.budget();
		if (budget != null && retry.spendsBudget()) {
			if (!budget.tryAcquire()) {
				return GiveUpReason.BUDGET;
			}
			this.token = true;
		}
		return null;
	}

	/**
	 * Gives back whatever is held, because no attempt was made or its outcome says
	 * nothing.
	 */
	void abandon() {
		giveBack();
		this.breaker.leaveRoom(false);
		back();
	}

	private void giveBack() {
		leaveShadow(null);
		if (this.underWay) {
			this.underWay = false;
			this.provider.limiter().onFailure(this.permit, true);
		}
		this.breaker.giveBack();
		this.quota.giveBack();
		if (this.token) {
			this.token = false;
			release();
		}
	}

	private void release() {
		RetryBudget budget = this.provider.budget();
		if (budget != null) {
			budget.release();
		}
	}

	/** When calls make sense again after a quota was found exhausted, if one was. */
	@Nullable Instant quotaRetryAt() {
		return this.quota.retryAt();
	}

	@Nullable Instant nextTrialAt() {
		return this.breaker.nextTrialAt();
	}

}
