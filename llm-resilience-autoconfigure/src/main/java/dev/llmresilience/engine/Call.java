package dev.llmresilience.engine;

import java.time.Duration;
import java.time.Instant;

import dev.llmresilience.FailureKind;
import dev.llmresilience.FailureKind.BreakerEffect;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.engine.CallMonitor.Intervention;
import dev.llmresilience.engine.CallPlan.Target;
import dev.llmresilience.engine.CallSettings.AttemptThread;
import dev.llmresilience.policy.AttemptHistory;
import dev.llmresilience.policy.Decision;
import dev.llmresilience.policy.Decision.GiveUp;
import dev.llmresilience.policy.Decision.Retry;
import dev.llmresilience.policy.RetryDecider;
import dev.llmresilience.policy.RetryDecider.Situation;
import org.jspecify.annotations.Nullable;

/**
 * One call: everything about its life that does not depend on how a driver waits. For
 * each attempt a driver asks for {@link #admit leave}, waits for a slot of the limiter,
 * takes {@link Guards#takePermit a permit}, {@link #begin begins}, and reports that the
 * attempt {@link #succeeded} or {@link #failed}. On a way out between leave and permit it
 * tells the guards to {@link Guards#abandon abandon}. Every call ends once: by success,
 * by one of the methods that return what the caller gets, or because the caller is
 * {@link #gone}.
 * <p>
 * Belongs to the driver that makes the call.
 */
final class Call extends ReportedCall {

	/** In which no attempt ends: 30 years, in nanoseconds. */
	private static final long FOREVER = 1_000_000_000_000_000_000L;

	/** Those that held when it began. */
	private final CallSettings settings;

	/** Whether the provider takes an attempt that comes twice for one. */
	private final boolean repeatable;

	private final CallOptions options;

	private final @Nullable KeyedProvider lease;

	/** Another provider takes over after so many failures on the rate-limit ladder. */
	private final int escalateAfter;

	private final Guards guards;

	private CallTrace.@Nullable Scope scope;

	/** Whether attempts run on the thread of the caller. */
	private boolean here;

	private long attemptStart;

	private @Nullable RunningAttempt running;

	/**
	 * Begins a call.
	 * @param invocation what it is made for
	 * @param target the provider entry that it is made under, and how
	 * @param start now, on the monotonic clock
	 * @param escalates whether another provider takes over when this one keeps rejecting
	 */
	Call(Invocation invocation, Target target, long start, boolean escalates) {
		this(invocation, target, target.lease(invocation.key()), start, escalates);
	}

	private Call(Invocation invocation, Target target, @Nullable KeyedProvider lease, long start, boolean escalates) {
		super(invocation, (lease != null) ? lease.provider() : target.provider(), start);
		this.options = target.options();
		this.lease = lease;
		CallSettings settings = entry().settings().calls();
		this.settings = isObserved() ? settings.withoutEffect() : settings;
		this.repeatable = this.options.idempotent() || settings.idempotencyKeyHeader() != null;
		this.escalateAfter = escalates ? settings.rateLimitEscalateAfter() : Integer.MAX_VALUE;
		this.guards = new Guards(entry(), engine().time(),
				(invocation.outer() instanceof Call call) ? call.guards : null, this.options.priority(),
				invocation.tokens(), start, isObserved());
	}

	/**
	 * Makes this the current call of the thread that the invocation began on.
	 */
	void enter() {
		invocation().enter(this);
		this.scope = openTrace();
	}

	/**
	 * Makes the call around this one the current one of that thread again.
	 */
	void leave() {
		if (this.scope != null) {
			this.scope.close();
		}
		invocation().leave();
	}

	/**
	 * Makes this the current call of whatever thread it is that calls.
	 * @return to be closed by the same thread
	 */
	Visit visit() {
		return new Visit(this);
	}

	/**
	 * Gives back the guards of its key. To be called once, after all else.
	 */
	void close() {
		if (this.lease != null) {
			this.lease.release();
		}
	}

	long deadline() {
		return invocation().deadline();
	}

	@Override
	Guards guards() {
		return this.guards;
	}

	/** How calls of the entry were made when this one began. */
	CallSettings settings() {
		return this.settings;
	}

	Exchange exchange() {
		return new Exchange(this, entry(), this.attemptStart);
	}

	/**
	 * Asks the guards that can refuse at once.
	 * @param now the monotonic clock
	 * @return why the call may not go on, or {@code null} if it may
	 */
	@Nullable LlmCallRefusedException admit(long now) {
		LlmCallRefusedException refusal = isObserved() ? null : engine().isClosed() ? Refusals.shutdown(name())
				: (deadline() - now <= 0) ? Refusals.deadline(name()) : null;
		if (refusal != null) {
			this.guards.abandon();
			return refusal;
		}
		return this.guards.admit();
	}

	/**
	 * Begins an attempt that is interrupted on the calling thread when its time is over.
	 * @param now the monotonic clock
	 */
	void beginHere(long now) {
		this.here = true;
		this.running = engine().watch().begin(begin(now));
	}

	/** Whether attempts run on another thread than the caller's. */
	boolean isOnWorker() {
		return this.settings.attemptThread() == AttemptThread.WORKER;
	}

	/**
	 * Begins an attempt.
	 * @param now the monotonic clock
	 * @return when its time is over
	 */
	long begin(long now) {
		this.attemptStart = now;
		long expiry = now + this.options.attemptTimeoutNanos(nextAttempt());
		return isObserved() ? now + FOREVER : (expiry - deadline() < 0) ? expiry : deadline();
	}

	/**
	 * Ends the attempt, and takes back an interrupt that was ours.
	 * @return whether its time was over
	 */
	private boolean endAttempt() {
		RunningAttempt running = this.running;
		this.running = null;
		return running != null && engine().watch().end(running);
	}

	/**
	 * The attempt succeeded.
	 * @param result what it returned
	 */
	void succeeded(@Nullable Object result) {
		endAttempt();
		try {
			this.guards.succeeded(this.attemptStart, this.guards.limiter().countsTokens() ? usage(result) : null);
		}
		catch (RuntimeException | Error ex) {
			this.guards.abandon();
			reportEnd(GiveUpReason.NOT_RETRYABLE, null);
			throw ex;
		}
		reportSuccess();
	}

	private @Nullable TokenUsage usage(@Nullable Object result) {
		TokenUsage usage = engine().usage(result);
		return (usage != null) ? usage : used();
	}

	/**
	 * The attempt failed: judges the failure, tells the guards, and decides.
	 * @param thrown what it threw
	 * @return what to do
	 */
	Decision failed(Throwable thrown) {
		boolean expired = endAttempt();
		try {
			return decide(thrown, expired);
		}
		catch (RuntimeException | Error ex) {
			// A judge that breaks must cost the caller neither the failure nor a permit.
			this.guards.abandon();
			if (ex != thrown) {
				thrown.addSuppressed(ex);
			}
			failures().addUnjudged(thrown, this.guards);
			return new GiveUp(GiveUpReason.NOT_RETRYABLE, null);
		}
	}

	private Decision decide(Throwable thrown, boolean expired) {
		long now = engine().time().nanoTime();
		Failures failures = failures();
		NestedFailure nested = nested(thrown);
		// It may have been our own interrupt that ended its wait, not that the caller
		// went away.
		if (nested != null && !(expired && nested.gone())) {
			LlmFailure known = nested.failure();
			if (known != null) {
				attemptEnded(known.kind());
			}
			failures.add(thrown, known, this.guards);
			failures.gone = nested.gone();
			this.guards.abandon();
			return new GiveUp(GiveUpReason.NESTED, null);
		}
		LlmFailure judged = engine().judge().judge(thrown, expired, this.here, entry(), this.options);
		if (this.here && judged.kind() == FailureKind.CANCELLED && FailureJudge.hidesInterrupt(thrown)) {
			Thread.currentThread().interrupt();
		}
		attemptEnded(judged.kind());
		LlmFailure failure = this.guards.paced(judged);
		failures.add(thrown, failure, this.guards);
		// A call that waits for the breaker may be the trial many times. One that says
		// nothing about the provider would be back at once, and has to back off.
		boolean trial = this.guards.isPatientTrial() && failure.kind().breakerEffect() == BreakerEffect.FAILURE;
		AttemptHistory history = trial ? new AttemptHistory() : failures.history;
		history.failed(RetryDecider.ladder(failure), now);
		Situation situation = new Situation(now, deadline() - now, this.options.maxAttempts(), mayRepeat(),
				hasSideEffect(), this.guards.limiter().paces(failure), this.escalateAfter, entry().areRetriesOn());
		Decision decision = RetryDecider.decide(this.options.policy(), history, failure, situation,
				engine().time()::random);
		this.guards.failed(failure, ladderSpent(decision, history, failure));
		if (isObserved() && decision instanceof Retry) {
			if (!this.guards.isIgnored()) {
				monitor().observed(Intervention.RETRIED);
			}
			decision = new GiveUp(GiveUpReason.OBSERVED, judged.hint());
		}
		if (trial && decision instanceof Retry) {
			return Retry.NOW;
		}
		if (decision instanceof Retry retry) {
			GiveUpReason refused = this.guards.payFor(retry, now);
			if (refused == null) {
				failures.retrying(retry);
				monitor().retries(retry.cause(), retry.delayNanos(), this.guards.limiter().tokens());
				return retry;
			}
			decision = new GiveUp(refused, judged.hint());
		}
		this.guards.back();
		return decision;
	}

	/**
	 * Whether an attempt may be made again that the provider may have carried out: it
	 * does no harm, or by its key the provider recognises what it has had before.
	 */
	boolean mayRepeat() {
		return this.repeatable;
	}

	/**
	 * A rate limit counts against the provider only once retrying did not get past it.
	 */
	private static boolean ladderSpent(Decision decision, AttemptHistory history, LlmFailure failure) {
		return decision instanceof GiveUp giveUp && giveUp.reason() == GiveUpReason.ATTEMPTS
				&& history.failures(RetryDecider.ladder(failure)) > 1;
	}

	/**
	 * A stream broke after its first element, which cannot be taken back.
	 * @param thrown what it broke with
	 * @return what the caller gets
	 */
	Throwable broke(Throwable thrown) {
		try {
			LlmFailure failure = engine().judge().judge(thrown, false, false, entry(), this.options);
			attemptEnded(failure.kind());
			failures().add(thrown, failure, this.guards);
			this.guards.failed(this.guards.paced(failure), false);
			this.guards.back();
		}
		catch (RuntimeException | Error ex) {
			this.guards.abandon();
			failures().addUnjudged(thrown, this.guards);
		}
		return end(thrown, GiveUpReason.STREAM_BROKEN, null);
	}

	/**
	 * Ends the call after a decision to give up.
	 * @param giveUp the decision
	 * @return what the caller gets: what the last attempt threw
	 */
	Throwable giveUp(GiveUp giveUp) {
		Duration hint = giveUp.hint();
		Instant retryAt = (giveUp.reason() == GiveUpReason.BREAKER) ? this.guards.nextTrialAt()
				: (hint != null) ? engine().time().now().plus(hint) : this.guards.quotaRetryAt();
		return end(failures().lastThrown(), giveUp.reason(), retryAt);
	}

	/** Ends the call, for whose outcome nobody waits any more, while it waited. */
	void gone() {
		this.guards.abandon();
		reportEnd(GiveUpReason.CANCELLED, null);
	}

	/** Ends the call, for whose outcome nobody waits any more, in an attempt. */
	void goneInFlight() {
		leftInFlight();
		reportEnd(GiveUpReason.CANCELLED, null);
	}

	/** An attempt is left behind, whatever becomes of it. */
	void leftInFlight() {
		LlmFailure failure = this.guards.paced(LlmFailure.of(FailureKind.CANCELLED));
		attemptEnded(failure.kind());
		this.guards.failed(failure, false);
		this.guards.back();
	}

	@Override
	public void sideEffect() {
		super.sideEffect();
		LlmCall outer = invocation().outer();
		if (outer != null) {
			// To begin that one anew would be to do it again.
			outer.sideEffect();
		}
	}

	@Override
	public Duration timeLeft() {
		return Duration.ofNanos(isObserved() ? FOREVER : Math.max(0, deadline() - engine().time().nanoTime()));
	}

}
