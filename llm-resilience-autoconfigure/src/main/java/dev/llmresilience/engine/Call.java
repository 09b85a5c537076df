package dev.llmresilience.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.CancellationException;

import dev.llmresilience.FailureKind;
import dev.llmresilience.FailureKind.BreakerEffect;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.engine.CallMonitor.Intervention;
import dev.llmresilience.engine.CallPlan.Target;
import dev.llmresilience.engine.CallSettings.AttemptThread;
import dev.llmresilience.policy.AttemptHistory;
import dev.llmresilience.policy.Decision;
import dev.llmresilience.policy.Decision.GiveUp;
import dev.llmresilience.policy.Decision.Retry;
import dev.llmresilience.policy.FailoverRule;
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
final class Call extends CallView {

	/** In which no call ends: 30 years, in nanoseconds. */
	private static final long FOREVER = 1_000_000_000_000_000_000L;

	private final CallEngine engine;

	private final CallOptions options;

	/** That of the thread that the whole invocation began on. */
	private final Place place;

	private final @Nullable KeyedProvider lease;

	/** Another provider takes over after so many failures on the rate-limit ladder. */
	private final int escalateAfter;

	/** The call that this one is nested in. */
	private final @Nullable LlmCall outer;

	/** What the trace belongs to by the Reactor context. */
	private final @Nullable Object parentTrace;

	private final Guards guards;

	private final CallMonitor monitor;

	private final @Nullable CallTrace trace;

	private final long start;

	private final long deadline;

	private CallTrace.@Nullable Scope scope;

	/** Whether attempts run on the thread of the caller. */
	private boolean here;

	private long attemptStart;

	private @Nullable RunningAttempt running;

	private @Nullable Failures failures;

	private @Nullable NestedFailure nested;

	/**
	 * Creates a call.
	 * @param engine what it shares with all other calls
	 * @param target the provider entry that it is made under, and how
	 * @param key the key whose guards it is under, or {@code null} for those of the entry
	 * @param tokens the tokens that it is estimated to use, zero or less if unknown
	 * @param place that of the thread that the invocation began on
	 * @param outer the call that it is nested in
	 * @param parentTrace what its trace belongs to
	 * @param start now, on the monotonic clock
	 * @param deadline the latest moment on that clock at which it may end
	 * @param escalates whether another provider takes over when this one keeps rejecting
	 */
	private Call(CallEngine engine, Target target, @Nullable Object key, long tokens, Place place,
			@Nullable LlmCall outer, @Nullable Object parentTrace, long start, long deadline, boolean escalates) {
		super(engine.time());
		this.engine = engine;
		this.options = target.options();
		this.place = place;
		this.outer = outer;
		this.parentTrace = parentTrace;
		this.start = start;
		this.deadline = deadline;
		this.lease = target.lease(key);
		Provider provider = (this.lease != null) ? this.lease.provider() : target.provider();
		this.escalateAfter = escalates ? provider.settings().calls().rateLimitEscalateAfter() : Integer.MAX_VALUE;
		this.guards = new Guards(provider, engine.time(), (outer instanceof Call call) ? call.guards : null,
				this.options.priority(), tokens, start, engine.isObserving());
		this.monitor = provider.monitor();
		this.trace = engine.tracer().begin(provider.name(), parentTrace);
	}

	/**
	 * Begins a call on the calling thread, which may be within another one.
	 * @param engine what it shares with all other calls
	 * @param plan the entries that it is made under
	 * @param key the key whose guards it is under, or {@code null}
	 * @param tokens the tokens that it is estimated to use, zero or less if unknown
	 * @return the call
	 */
	static Call begin(CallEngine engine, CallPlan plan, @Nullable Object key, long tokens) {
		return begin(engine, plan, key, tokens, null, null);
	}

	/**
	 * Begins a call.
	 * @param engine what it shares with all other calls
	 * @param plan the entries that it is made under
	 * @param key the key whose guards it is under, or {@code null}
	 * @param tokens the tokens that it is estimated to use, zero or less if unknown
	 * @param around the call that it is nested in, or {@code null} for that of the
	 * calling thread
	 * @param parentTrace what its trace belongs to, or {@code null} for what the calling
	 * thread does
	 * @return the call
	 */
	static Call begin(CallEngine engine, CallPlan plan, @Nullable Object key, long tokens, @Nullable LlmCall around,
			@Nullable Object parentTrace) {
		Place place = place();
		long start = engine.time().nanoTime();
		Target target = plan.first();
		LlmCall outer = (around != null) ? around : place.current();
		long deadline = engine.isObserving() ? start + FOREVER : deadline(place, outer, start, target.options());
		return new Call(engine, target, key, tokens, place, outer, parentTrace, start, deadline,
				!plan.failover().isEmpty());
	}

	/**
	 * When a call has to end that the calling thread begins.
	 * @param start when it begins, on the monotonic clock
	 * @param options how it is made
	 * @return the moment on that clock
	 */
	static long deadline(long start, CallOptions options) {
		Place place = place();
		return deadline(place, place.current(), start, options);
	}

	private static long deadline(Place place, @Nullable LlmCall outer, long start, CallOptions options) {
		long deadline = start + options.timeoutNanos();
		Long bound = place.deadline();
		if (bound != null && bound - deadline < 0) {
			deadline = bound;
		}
		if (outer instanceof Call call && call.deadline - deadline < 0) {
			// Which also carries a bound to the threads that the outer call goes on at.
			deadline = call.deadline;
		}
		return deadline;
	}

	/**
	 * Makes this the current call of the thread that the invocation began on.
	 */
	void enter() {
		this.place.enter(this);
		if (this.trace != null) {
			this.scope = this.trace.open();
		}
	}

	/**
	 * Makes the call around this one the current one of that thread again.
	 */
	void leave() {
		if (this.scope != null) {
			this.scope.close();
		}
		this.place.enter(this.outer);
	}

	/**
	 * Makes this the current call of whatever thread it is that calls.
	 * @return to be closed by the same thread
	 */
	Visit visit() {
		return new Visit(this);
	}

	/** What stands for the trace in a Reactor context, or {@code null} without one. */
	@Nullable Object traceValue() {
		return (this.trace != null) ? this.trace.contextValue() : null;
	}

	/**
	 * Gives back the guards of its key. To be called once, after all else.
	 */
	void close() {
		if (this.lease != null) {
			this.lease.release();
		}
	}

	CallOptions options() {
		return this.options;
	}

	long start() {
		return this.start;
	}

	long deadline() {
		return this.deadline;
	}

	Guards guards() {
		return this.guards;
	}

	Exchange exchange() {
		return new Exchange(this, this.guards.provider(), this.attemptStart);
	}

	boolean isRetry() {
		return this.failures != null;
	}

	/**
	 * Asks the guards that can refuse at once.
	 * @param now the monotonic clock
	 * @return why the call may not go on, or {@code null} if it may
	 */
	@Nullable LlmCallRefusedException admit(long now) {
		LlmCallRefusedException refusal = isObserved() ? null : this.engine.isClosed() ? Refusals.shutdown(name())
				: (this.deadline - now <= 0) ? Refusals.deadline(name()) : null;
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
		this.running = this.engine.watch().begin(begin(now));
	}

	/** Whether attempts run on another thread than the caller's. */
	boolean isOnWorker() {
		return !isObserved() && this.guards.provider().settings().calls().attemptThread() == AttemptThread.WORKER;
	}

	/** Whether this is only judged and counted. */
	boolean isObserved() {
		return this.engine.isObserving();
	}

	/**
	 * Begins an attempt.
	 * @param now the monotonic clock
	 * @return when its time is over
	 */
	long begin(long now) {
		this.attemptStart = now;
		long expiry = now + this.options.attemptTimeoutNanos(nextAttempt());
		return !isObserved() && (expiry - this.deadline < 0) ? expiry : this.deadline;
	}

	/**
	 * Ends the attempt, and takes back an interrupt that was ours.
	 * @return whether its time was over
	 */
	private boolean endAttempt() {
		RunningAttempt running = this.running;
		this.running = null;
		return running != null && this.engine.watch().end(running);
	}

	private void attemptEnded(@Nullable FailureKind kind) {
		this.monitor.attemptEnded(kind);
		if (this.trace != null) {
			this.trace.attemptEnded(kind);
		}
	}

	/**
	 * The attempt succeeded.
	 * @param result what it returned
	 */
	void succeeded(@Nullable Object result) {
		endAttempt();
		try {
			this.guards.succeeded(this.attemptStart, this.guards.countsTokens() ? usage(result) : null);
		}
		catch (RuntimeException | Error ex) {
			this.guards.abandon();
			ended(GiveUpReason.NOT_RETRYABLE);
			finish(null);
			throw ex;
		}
		attemptEnded(null);
		if (this.failures != null) {
			this.failures.addSuccess(this.guards);
			finish(null);
		}
		else if (this.monitor != CallMonitor.NONE || this.trace != null) {
			this.monitor.ended(null, this.engine.time().nanoTime() - this.start);
			if (this.trace != null) {
				this.trace.ended(null);
			}
		}
	}

	private @Nullable TokenUsage usage(@Nullable Object result) {
		TokenUsage usage = this.engine.usage(result);
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
		long now = this.engine.time().nanoTime();
		Failures failures = failures();
		NestedFailure nested = NestedFailure.find(thrown, this.nested);
		// It may have been our own interrupt that ended its wait, not that the caller
		// went away.
		if (nested != null && !(expired && nested.gone())) {
			failures.add(thrown, nested.failure(), this.guards);
			failures.gone = nested.gone();
			this.guards.abandon();
			return new GiveUp(GiveUpReason.NESTED, null);
		}
		LlmFailure judged = this.engine.judge(thrown, expired, this.here, this.guards.provider(), this.options);
		if (this.here && judged.kind() == FailureKind.CANCELLED && CallEngine.hidesInterrupt(thrown)) {
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
		Situation situation = new Situation(now, this.deadline - now, this.options.maxAttempts(), mayRepeat(),
				hasSideEffect(), this.guards.paces(failure), this.escalateAfter, this.guards.provider().areRetriesOn());
		Decision decision = RetryDecider.decide(this.options.policy(), history, failure, situation,
				this.engine.time()::random);
		this.guards.failed(failure, ladderSpent(decision, history, failure));
		if (isObserved() && decision instanceof Retry) {
			this.monitor.observed(Intervention.RETRIED);
			decision = new GiveUp(GiveUpReason.OBSERVED, judged.hint());
		}
		if (trial && decision instanceof Retry) {
			return Retry.NOW;
		}
		if (decision instanceof Retry retry) {
			GiveUpReason refused = this.guards.payFor(retry, now);
			if (refused == null) {
				failures.retrying(retry);
				this.monitor.retries(retry.cause(), retry.delayNanos(), this.guards.permit().tokens());
				return retry;
			}
			decision = new GiveUp(refused, judged.hint());
		}
		this.guards.back();
		return decision;
	}

	/** With a key the provider recognises what it has had before. */
	private boolean mayRepeat() {
		return this.options.idempotent() || this.guards.provider().settings().calls().idempotencyKeyHeader() != null;
	}

	/**
	 * A rate limit counts against the provider only once retrying did not get past it.
	 */
	private static boolean ladderSpent(Decision decision, AttemptHistory history, LlmFailure failure) {
		return decision instanceof GiveUp giveUp && giveUp.reason() == GiveUpReason.ATTEMPTS
				&& history.failures(RetryDecider.ladder(failure)) > 1;
	}

	/**
	 * The first element of a stream has come: the provider is up. What becomes of the
	 * stream is told later.
	 */
	void delivers() {
		this.guards.delivers();
	}

	/**
	 * A stream broke after its first element, which cannot be taken back.
	 * @param thrown what it broke with
	 * @return what the caller gets
	 */
	Throwable broke(Throwable thrown) {
		try {
			LlmFailure failure = this.engine.judge(thrown, false, false, this.guards.provider(), this.options);
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
				: (hint != null) ? this.engine.time().now().plus(hint) : this.guards.quotaRetryAt();
		return end(failures().lastThrown(), giveUp.reason(), retryAt);
	}

	/**
	 * Ends the call because a guard refused it.
	 * @param refusal why
	 * @return what the caller gets: what the last attempt threw, or the refusal if there
	 * was none
	 */
	Throwable refused(LlmCallRefusedException refusal) {
		Throwable last = failures().lastThrownOrNull();
		if (refusal.reason() == GiveUpReason.SHUTDOWN && last != null) {
			refusal.initCause(last);
			last = null;
		}
		return end((last != null) ? last : refusal, refusal.reason(), refusal.retryAt());
	}

	/**
	 * Ends the call because its thread was interrupted while it waited.
	 * @return what the caller gets: what the last attempt threw, or a
	 * {@link CancellationException} if there was none
	 */
	Throwable cancelled() {
		Throwable last = failures().lastThrownOrNull();
		if (last == null) {
			last = new CancellationException("Interrupted while the call to '" + name() + "' waited for its turn");
		}
		return end(last, GiveUpReason.CANCELLED, null);
	}

	/** Ends the call, for whose outcome nobody waits any more, while it waited. */
	void gone() {
		this.guards.abandon();
		ended(GiveUpReason.CANCELLED);
		finish(null);
	}

	/** Ends the call, for whose outcome nobody waits any more, in an attempt. */
	void goneInFlight() {
		leftInFlight();
		ended(GiveUpReason.CANCELLED);
		finish(null);
	}

	/** An attempt is left behind, whatever becomes of it. */
	void leftInFlight() {
		LlmFailure failure = this.guards.paced(LlmFailure.of(FailureKind.CANCELLED));
		attemptEnded(failure.kind());
		this.guards.failed(failure, false);
		this.guards.back();
	}

	private Throwable end(Throwable thrown, GiveUpReason reason, @Nullable Instant retryAt) {
		Failures failures = ended(reason);
		if (this.outer instanceof Call call) {
			call.nested = new NestedFailure(thrown, failures.last, failures.gone);
		}
		LlmCallReport report = finish(retryAt);
		if (!isObserved() && LlmCallReport.find(thrown) == null) {
			thrown.addSuppressed(report);
		}
		return thrown;
	}

	private Failures ended(GiveUpReason reason) {
		Failures failures = failures();
		failures.gone |= NestedFailure.isGone(reason);
		failures.reason = reason;
		return failures;
	}

	private LlmCallReport finish(@Nullable Instant retryAt) {
		Failures failures = failures();
		long nanos = this.engine.time().nanoTime() - this.start;
		LlmCallReport report = failures.report(name(), retryAt, nanos);
		this.monitor.ended(failures.reason, nanos);
		if (this.trace != null) {
			this.trace.ended(report);
		}
		this.engine.listener().onCall(report);
		return report;
	}

	/**
	 * A call shares the failure of an equal one, which has been given up for both.
	 * @param outer the call that it is nested in
	 * @param thrown what the other one threw
	 */
	static void shareFailure(@Nullable LlmCall outer, Throwable thrown) {
		LlmCallReport report = LlmCallReport.find(thrown);
		if (outer instanceof Call call && report != null) {
			call.nested = NestedFailure.of(thrown, report);
		}
	}

	/**
	 * Whether another provider may take over.
	 * @return whether it may
	 */
	boolean mayFailOver() {
		Failures failures = failures();
		GiveUpReason reason = failures.reason;
		boolean allowed = reason != null && !failures.gone
				&& FailoverRule.allows(this.guards.provider().settings().calls().failoverOn(), reason, failures.last,
						hasSideEffect(), mayRepeat());
		if (allowed && isObserved()) {
			this.monitor.observed(Intervention.FAILED_OVER);
			return false;
		}
		return allowed;
	}

	/**
	 * Hands the invocation over to another provider.
	 * @param target the other one
	 * @param key the key whose guards the call is under, or {@code null}
	 * @param tokens the tokens that it is estimated to use
	 * @param escalates whether a further one would take over from that
	 * @return the call there
	 */
	Call handOver(Target target, @Nullable Object key, long tokens, boolean escalates) {
		Failures failures = failures();
		GiveUpReason reason = Objects.requireNonNull(failures.reason);
		String next = target.provider().name();
		this.guards.provider()
			.onFailover(new FailoverEvent(name(), next, reason, FailoverRule.kind(reason, failures.last),
					this.engine.time().now()));
		this.monitor.failedOver(next);
		return new Call(this.engine, target, key, tokens, this.place, this.outer, this.parentTrace,
				this.engine.time().nanoTime(), this.deadline, escalates);
	}

	/** Whether a fallback may answer instead. */
	boolean mayFallBack() {
		return !isObserved() && failures().mayFallBack();
	}

	private Failures failures() {
		Failures failures = this.failures;
		if (failures == null) {
			failures = new Failures();
			this.failures = failures;
		}
		return failures;
	}

	@Override
	String name() {
		return this.guards.provider().name();
	}

	@Override
	public void sideEffect() {
		super.sideEffect();
		if (this.outer != null) {
			// To begin that one anew would be to do it again.
			this.outer.sideEffect();
		}
	}

	@Override
	public Duration timeLeft() {
		return Duration.ofNanos(Math.max(0, this.deadline - this.engine.time().nanoTime()));
	}

	/**
	 * While it is open, the call is the current one of the thread that opened it.
	 */
	static final class Visit implements AutoCloseable {

		private final Place place = place();

		private final @Nullable LlmCall before = this.place.current();

		private final CallTrace.@Nullable Scope scope;

		private Visit(Call call) {
			this.place.enter(call);
			this.scope = (call.trace != null) ? call.trace.open() : null;
		}

		@Override
		public void close() {
			if (this.scope != null) {
				this.scope.close();
			}
			this.place.enter(this.before);
		}

	}

}
