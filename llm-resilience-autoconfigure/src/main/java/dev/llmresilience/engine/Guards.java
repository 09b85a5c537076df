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

	/** Whether a refusal was not obeyed. */
	private boolean ignored;

	private final QuotaGuard quota;

	private final BreakerGuard breaker;

	private final LimiterGuard limiter;

	/** When it began to wait for the breaker. */
	private long joined;

	/** How long it has waited for that. */
	private long roomNanos;

	/** Whether a budget token has been paid for an attempt that has not been made. */
	private boolean token;

	/** Whether the attempt under way was paid for with a budget token. */
	private boolean tokenUsed;

	Guards(Provider provider, TimeSource time, @Nullable Guards outer, Priority priority, long tokens, long start,
			boolean observing) {
		this.provider = provider;
		this.observing = observing;
		this.time = time;
		this.quota = new QuotaGuard(provider, (outer != null) ? outer.quota : null);
		this.breaker = new BreakerGuard(provider, (outer != null) ? outer.breaker : null);
		this.limiter = new LimiterGuard(provider, time, (outer != null) ? outer.limiter : null, priority, tokens,
				start);
	}

	LimiterGuard limiter() {
		return this.limiter;
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

	/** Whether a guard has refused the call, which has gone on because it is observed. */
	boolean isIgnored() {
		return this.ignored;
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
		boolean free = this.limiter.trySlot(now);
		if (!free && this.observing) {
			this.provider.monitor().observed(Intervention.DELAYED);
			return true;
		}
		return free;
	}

	/**
	 * Tells what a wait in the limiter's queue came to, once it is over.
	 * @param ticket the ticket
	 * @param now the monotonic clock
	 * @return why the call may not go on, or {@code null} if it may
	 */
	@Nullable LlmCallRefusedException queued(Ticket ticket, long now) {
		long waited = this.limiter.waited(now);
		if (ticket.state() == State.GRANTED) {
			return null;
		}
		abandon();
		// A wait that ran out turned out longer than it looked.
		Duration needed = Duration.ofNanos(Math.max(ticket.neededNanos(), waited));
		return Refusals.limiter(this.provider, ticket.state(), needed, this.time.now());
	}

	/**
	 * Leaves the limiter's queue without having waited to the end.
	 * @param ticket the ticket
	 */
	void leaveQueue(Ticket ticket) {
		this.limiter.leaveQueue(ticket);
		abandon();
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
		boolean refused = !this.ignored && !this.breaker.tryAcquire();
		if (refused && this.observing) {
			this.ignored = true;
			this.provider.monitor().observed(isPatient() ? Intervention.DELAYED : Intervention.REFUSED);
		}
		else if (refused) {
			this.limiter.giveBackSlot();
			giveBack();
			back();
			return refusedByBreaker();
		}
		this.tokenUsed = this.token;
		this.token = false;
		this.limiter.send(now);
		return null;
	}

	void succeeded(long sent, @Nullable TokenUsage usage) {
		this.limiter.succeeded(usage);
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
	 * Tells the limiter of a failure.
	 * @param failure the failure
	 * @return the failure, with the limiter's word in place of a hint where it paces
	 */
	LlmFailure paced(LlmFailure failure) {
		return this.limiter.paced(failure, cappedHint(failure));
	}

	/** The call that the limiter expected is back. */
	void back() {
		this.limiter.back();
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
		this.limiter.giveBack();
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
