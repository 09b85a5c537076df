package dev.llmresilience.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import dev.llmresilience.FailureKind;
import dev.llmresilience.FailureKind.BreakerEffect;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmFailure.LatchScope;
import dev.llmresilience.Priority;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.breaker.QuotaLatch;
import dev.llmresilience.breaker.RoomTicket;
import dev.llmresilience.breaker.WaitingRoom;
import dev.llmresilience.budget.RetryBudget;
import dev.llmresilience.limiter.Permit;
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

	private final TimeSource time;

	/** Those of the call that this one is nested in. */
	private final @Nullable Guards outer;

	private QuotaLatch.@Nullable Permit accountQuota;

	private QuotaLatch.@Nullable Permit quota;

	private CircuitBreaker.@Nullable Permit breaker;

	/** What it was let in with after it had waited for the breaker. */
	private @Nullable RoomTicket admission;

	/** Whether a budget token has been paid for an attempt that has not been made. */
	private boolean token;

	/** What it has of the limiter. */
	private final Permit permit;

	/** Whether the limiter waits to hear of an attempt. */
	private boolean underWay;

	/** Whether the attempt under way was paid for with a budget token. */
	private boolean tokenUsed;

	Guards(Provider provider, TimeSource time, @Nullable Guards outer, Priority priority, long tokens, long start) {
		this.provider = provider;
		this.time = time;
		this.outer = outer;
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

	Permit permit() {
		return this.permit;
	}

	boolean countsTokens() {
		return this.provider.limiter().countsTokens();
	}

	Provider provider() {
		return this.provider;
	}

	@Nullable LlmCallRefusedException admit() {
		this.accountQuota = acquire(this.provider.accountQuota());
		if (this.accountQuota == null) {
			return refuse(this.provider.accountQuota());
		}
		this.quota = acquire(this.provider.quota());
		if (this.quota == null) {
			return refuse(this.provider.quota());
		}
		CircuitBreaker breaker = this.provider.breaker();
		if (breaker != null && breaker.refuses() && outerTrial(breaker) == null && !isPatient()) {
			breaker.onRejected();
			abandon();
			return Refusals.breaker(this.provider.name(), breaker);
		}
		return null;
	}

	/**
	 * Whether the call waits for the breaker instead of failing. One that is nested in
	 * another that was let in would wait for that in vain.
	 */
	boolean isPatient() {
		if (this.provider.room() == null) {
			return false;
		}
		for (Guards around = this.outer; around != null; around = around.outer) {
			if (around.provider == this.provider && around.underWay) {
				return false;
			}
		}
		return true;
	}

	/** Whether the call has to wait for the breaker now. */
	boolean waitsForBreaker() {
		WaitingRoom room = this.provider.room();
		return room != null && (this.admission != null || !room.mayPass()) && isPatient();
	}

	/**
	 * Waits for the breaker, in the place that it had if it was let in and got no permit.
	 * @param deadline the latest moment at which going on makes sense
	 * @param listener is told when the wait is over
	 * @return the ticket
	 */
	RoomTicket await(long deadline, Runnable listener) {
		WaitingRoom room = Objects.requireNonNull(this.provider.room());
		RoomTicket before = this.admission;
		this.admission = null;
		return (before != null) ? room.rejoin(before, listener) : room.join(deadline, listener);
	}

	/**
	 * Tells what a wait for the breaker came to, once it is over.
	 * @param ticket the ticket
	 * @return why the call may not go on, or {@code null} if it may
	 */
	@Nullable LlmCallRefusedException awaited(RoomTicket ticket) {
		WaitingRoom room = this.provider.room();
		if (room != null) {
			room.leave(ticket);
		}
		if (ticket.state() == RoomTicket.State.ADMITTED) {
			this.admission = ticket;
			return null;
		}
		abandon();
		return (ticket.state() == RoomTicket.State.REFUSED_CLOSED) ? Refusals.shutdown(this.provider.name())
				: Refusals.breaker(this.provider.name(), this.provider.breaker());
	}

	/** Whether this attempt is a trial of a call that can wait for another one. */
	boolean isPatientTrial() {
		return this.provider.room() != null && this.breaker != null && this.breaker.holdsTrial();
	}

	private void leaveRoom(boolean success) {
		RoomTicket admission = this.admission;
		WaitingRoom room = this.provider.room();
		if (admission != null && room != null) {
			this.admission = null;
			room.ended(admission, success);
		}
	}

	private QuotaLatch.@Nullable Permit acquire(QuotaLatch latch) {
		QuotaLatch.Permit probe = outerProbe(latch);
		return (probe != null) ? probe : latch.tryAcquire();
	}

	/**
	 * A nested call that meets the guards of the call around it is part of that call's
	 * probe or trial. Refused, it could never succeed, and neither could the other.
	 */
	private QuotaLatch.@Nullable Permit outerProbe(QuotaLatch latch) {
		for (Guards around = this.outer; around != null; around = around.outer) {
			QuotaLatch.Permit permit = (around.provider.accountQuota() == latch) ? around.accountQuota
					: (around.provider.quota() == latch) ? around.quota : null;
			if (permit != null && permit.holdsProbe()) {
				return permit;
			}
		}
		return null;
	}

	private CircuitBreaker.@Nullable Permit outerTrial(CircuitBreaker breaker) {
		for (Guards around = this.outer; around != null; around = around.outer) {
			CircuitBreaker.Permit permit = (around.provider.breaker() == breaker) ? around.breaker : null;
			if (permit != null && permit.holdsTrial()) {
				return permit;
			}
		}
		return null;
	}

	private LlmCallRefusedException refuse(QuotaLatch latch) {
		abandon();
		return Refusals.quota(this.provider.name(), latch, this.time.now());
	}

	/**
	 * Takes the breaker's permit. The caller has a slot of the limiter, which goes back
	 * if the permit is refused.
	 * @param now the monotonic clock
	 * @return why the call may not go on, or {@code null} if it may
	 */
	@Nullable LlmCallRefusedException takePermit(long now) {
		CircuitBreaker breaker = this.provider.breaker();
		if (breaker != null) {
			CircuitBreaker.Permit trial = outerTrial(breaker);
			this.breaker = (trial != null) ? trial : breaker.tryAcquire();
			if (this.breaker == null) {
				this.provider.limiter().giveBack(this.permit);
				RoomTicket admission = this.admission;
				this.admission = null;
				abandon();
				this.admission = admission;
				return Refusals.breaker(this.provider.name(), breaker);
			}
		}
		this.tokenUsed = this.token;
		this.token = false;
		this.underWay = true;
		this.provider.limiter().onSend(this.permit, now);
		return null;
	}

	void succeeded(long sent, @Nullable TokenUsage usage) {
		this.underWay = false;
		this.provider.limiter().onSuccess(this.permit, usage);
		CircuitBreaker breaker = this.provider.breaker();
		if (breaker != null && this.breaker != null) {
			this.breaker.success(breaker.measuresDuration() ? this.time.nanoTime() - sent : 0);
		}
		if (this.accountQuota != null) {
			this.accountQuota.success();
		}
		if (this.quota != null) {
			this.quota.success();
		}
		RetryBudget budget = this.provider.budget();
		if (budget != null) {
			budget.onSuccess();
		}
		leaveRoom(true);
	}

	/**
	 * A stream has begun to deliver. A trial or probe need not wait for its end; whoever
	 * holds none still reports that.
	 */
	void delivers() {
		if (this.breaker != null && this.breaker.holdsTrial()) {
			this.breaker.success();
		}
		if (this.accountQuota != null && this.accountQuota.holdsProbe()) {
			this.accountQuota.success();
		}
		if (this.quota != null && this.quota.holdsProbe()) {
			this.quota.success();
		}
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
		boolean answered = false;
		if (failure.kind() == FailureKind.QUOTA_EXHAUSTED) {
			exhausted(failure);
		}
		if (this.breaker != null) {
			BreakerEffect effect = failure.kind().breakerEffect();
			if (failure.kind() == FailureKind.RATE_LIMITED && ladderSpent) {
				effect = BreakerEffect.FAILURE;
			}
			switch (effect) {
				case SUCCESS -> {
					this.breaker.success();
					answered = true;
				}
				case FAILURE -> this.breaker.failure(failure.kind(), failure.status(), cappedHint(failure));
				case NEUTRAL -> neutral(this.breaker);
			}
			this.breaker = null;
		}
		if (failure.kind() == FailureKind.CANCELLED && this.tokenUsed) {
			release();
		}
		this.tokenUsed = false;
		leaveRoom(answered);
		giveBack();
	}

	private void exhausted(LlmFailure failure) {
		if (this.accountQuota != null) {
			this.accountQuota.exhausted();
		}
		if (this.quota != null) {
			this.quota.exhausted();
		}
		this.accountQuota = null;
		this.quota = null;
		if (failure.latch() == LatchScope.ACCOUNT) {
			this.provider.accountQuota().latch(failure.code(), failure.resetAt());
		}
		else if (failure.latch() == LatchScope.PROVIDER) {
			this.provider.quota().latch(failure.code(), failure.resetAt());
		}
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
		CircuitBreaker breaker = this.provider.breaker();
		if (breaker != null && !isPatient() && breaker.refusesUntil(now + retry.delayNanos())) {
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
		back();
	}

	private void giveBack() {
		if (this.underWay) {
			this.underWay = false;
			this.provider.limiter().onFailure(this.permit, true);
		}
		if (this.breaker != null) {
			neutral(this.breaker);
			this.breaker = null;
		}
		if (this.accountQuota != null) {
			neutral(this.accountQuota);
			this.accountQuota = null;
		}
		if (this.quota != null) {
			neutral(this.quota);
			this.quota = null;
		}
		if (this.token) {
			this.token = false;
			release();
		}
		leaveRoom(false);
	}

	private void neutral(CircuitBreaker.Permit permit) {
		if (!isOuter(permit)) {
			permit.neutral();
		}
	}

	private void neutral(QuotaLatch.Permit permit) {
		if (!isOuter(permit)) {
			permit.neutral();
		}
	}

	/**
	 * Whether a trial or probe is that of the call around, which is still under way, so
	 * that only the outcome of this call may end it, and not that it had none.
	 */
	private boolean isOuter(Object permit) {
		for (Guards around = this.outer; around != null; around = around.outer) {
			if (around.breaker == permit || around.quota == permit || around.accountQuota == permit) {
				return true;
			}
		}
		return false;
	}

	private void release() {
		RetryBudget budget = this.provider.budget();
		if (budget != null) {
			budget.release();
		}
	}

	/** When calls make sense again after a quota was found exhausted, if one was. */
	@Nullable Instant quotaRetryAt() {
		QuotaLatch latched = this.provider.accountQuota().isLatched() ? this.provider.accountQuota()
				: this.provider.quota();
		return (latched.resetAt() != null) ? latched.resetAt() : latched.nextProbeAt();
	}

	@Nullable Instant nextTrialAt() {
		CircuitBreaker breaker = this.provider.breaker();
		return (breaker != null) ? breaker.nextTrialAt() : null;
	}

}
