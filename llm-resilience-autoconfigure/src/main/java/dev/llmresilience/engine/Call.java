package dev.llmresilience.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

import dev.llmresilience.FailureKind;
import dev.llmresilience.FailureKind.BreakerEffect;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmCallReport.Attempt;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.engine.CallPlan.Target;
import dev.llmresilience.engine.CallSettings.AttemptThread;
import dev.llmresilience.limiter.RateLimiter;
import dev.llmresilience.limiter.Ticket;
import dev.llmresilience.limiter.Ticket.State;
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
 * tells the guards to {@link Guards#abandon abandon}.
 * <p>
 * Belongs to the driver that makes the call.
 */
final class Call extends LlmCall {

	private static final int MAX_DEPTH = 32;

	private static final AtomicReferenceFieldUpdater<Call, TokenUsage> USED = AtomicReferenceFieldUpdater
		.newUpdater(Call.class, TokenUsage.class, "used");

	private static final AtomicReferenceFieldUpdater<Call, String> ID = AtomicReferenceFieldUpdater
		.newUpdater(Call.class, String.class, "id");

	private static final AtomicIntegerFieldUpdater<Call> REQUESTS = AtomicIntegerFieldUpdater.newUpdater(Call.class,
			"requests");

	private static final int RADIX = 36;

	private final CallEngine engine;

	private final CallOptions options;

	/** That of the thread that the whole invocation began on. */
	private final Place place;

	private final @Nullable KeyedProvider lease;

	/** Another provider takes over after so many failures on the rate-limit ladder. */
	private final int escalateAfter;

	/** The call that this one is nested in. */
	private final @Nullable LlmCall outer;

	private final Guards guards;

	private final long start;

	private final long deadline;

	/** Whether attempts run on the thread of the caller. */
	private boolean here;

	private int attempt;

	private long attemptStart;

	private @Nullable RunningAttempt running;

	private volatile boolean sideEffect;

	/** Whether somebody wanted to know the provider. */
	private volatile boolean asked;

	/** Made for whoever asks first. */
	private volatile @Nullable String id;

	/** The requests of this attempt that have asked for a key. */
	private volatile int requests;

	/** The tokens that the attempt says it has used. */
	private volatile @Nullable TokenUsage used;

	private @Nullable Failures failures;

	private @Nullable Throwable nestedThrown;

	private boolean nestedGone;

	private @Nullable LlmFailure nestedFailure;

	/**
	 * Creates a call.
	 * @param engine what it shares with all other calls
	 * @param target the provider entry that it is made under, and how
	 * @param key the key whose guards it is under, or {@code null} for those of the entry
	 * @param tokens the tokens that it is estimated to use, zero or less if unknown
	 * @param place that of the thread that the invocation began on
	 * @param outer the call that it is nested in
	 * @param start now, on the monotonic clock
	 * @param deadline the latest moment on that clock at which it may end
	 * @param escalates whether another provider takes over when this one keeps rejecting
	 */
	private Call(CallEngine engine, Target target, @Nullable Object key, long tokens, Place place,
			@Nullable LlmCall outer, long start, long deadline, boolean escalates) {
		this.engine = engine;
		this.options = target.options();
		this.place = place;
		this.outer = outer;
		this.start = start;
		this.deadline = deadline;
		this.lease = target.lease(key);
		Provider provider = (this.lease != null) ? this.lease.provider() : target.provider();
		this.escalateAfter = escalates ? provider.settings().calls().rateLimitEscalateAfter() : Integer.MAX_VALUE;
		this.guards = new Guards(provider, engine.time(), (outer instanceof Call call) ? call.guards : null,
				this.options.priority(), tokens, start);
	}

	/**
	 * Begins a call on the calling thread.
	 * @param engine what it shares with all other calls
	 * @param plan the entries that it is made under
	 * @param key the key whose guards it is under, or {@code null}
	 * @param tokens the tokens that it is estimated to use, zero or less if unknown
	 * @return the call
	 */
	static Call begin(CallEngine engine, CallPlan plan, @Nullable Object key, long tokens) {
		Place place = place();
		long start = engine.time().nanoTime();
		Target target = plan.first();
		long deadline = start + target.options().timeoutNanos();
		Long bound = place.deadline();
		if (bound != null && bound - deadline < 0) {
			deadline = bound;
		}
		LlmCall outer = place.current();
		if (outer instanceof Call around && around.deadline - deadline < 0) {
			// Which also carries a bound to the threads that the outer call goes on at.
			deadline = around.deadline;
		}
		return new Call(engine, target, key, tokens, place, outer, start, deadline, !plan.failover().isEmpty());
	}

	/**
	 * Bounds the calls that the calling thread begins.
	 * @param deadline the latest moment on the monotonic clock
	 * @return what bounded them before, to be set again
	 */
	static @Nullable Long bound(long deadline) {
		Place place = place();
		Long before = place.deadline();
		if (before == null || deadline - before < 0) {
			place.bound(deadline);
		}
		return before;
	}

	/** Bounds the calls that the calling thread begins as before. */
	static void restoreBound(@Nullable Long before) {
		place().bound(before);
	}

	/**
	 * Makes this the current call of the thread that the invocation began on.
	 */
	void enter() {
		this.place.enter(this);
	}

	/**
	 * Makes the call around this one the current one of that thread again.
	 */
	void leave() {
		this.place.enter(this.outer);
	}

	/**
	 * Makes this the current call of whatever thread it is that calls.
	 * @return the call that it was in, to {@linkplain #restore go back} to
	 */
	@Nullable LlmCall enterHere() {
		Place here = place();
		LlmCall before = here.current();
		here.enter(this);
		return before;
	}

	/**
	 * Makes another call the current one of the calling thread again.
	 * @param before the call, or {@code null} for none
	 */
	static void restore(@Nullable LlmCall before) {
		place().enter(before);
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
		LlmCallRefusedException refusal = this.engine.isClosed() ? Refusals.shutdown(name())
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
		return this.guards.provider().settings().calls().attemptThread() == AttemptThread.WORKER;
	}

	/**
	 * Begins an attempt.
	 * @param now the monotonic clock
	 * @return when its time is over
	 */
	long begin(long now) {
		this.attempt++;
		if (this.used != null) {
			this.used = null;
		}
		if (this.requests != 0) {
			this.requests = 0;
		}
		this.attemptStart = now;
		long expiry = now + this.options.attemptTimeoutNanos(this.attempt);
		return (expiry - this.deadline < 0) ? expiry : this.deadline;
	}

	/**
	 * Ends the attempt, and takes back an interrupt that was ours.
	 * @return whether its time was over
	 */
	private boolean end() {
		RunningAttempt running = this.running;
		this.running = null;
		return running != null && this.engine.watch().end(running);
	}

	/**
	 * The attempt succeeded.
	 * @param result what it returned
	 */
	void succeeded(@Nullable Object result) {
		end();
		try {
			this.guards.succeeded(this.attemptStart, this.guards.countsTokens() ? usage(result) : null);
		}
		catch (RuntimeException | Error ex) {
			this.guards.abandon();
			throw ex;
		}
	}

	private @Nullable TokenUsage usage(@Nullable Object result) {
		TokenUsage usage = this.engine.usage(result);
		return (usage != null) ? usage : this.used;
	}

	/**
	 * The attempt failed: judges the failure, tells the guards, and decides.
	 * @param thrown what it threw
	 * @return what to do
	 */
	Decision failed(Throwable thrown) {
		boolean expired = end();
		try {
			return decide(thrown, expired);
		}
		catch (RuntimeException | Error ex) {
			// A judge that breaks must cost the caller neither the failure nor a permit.
			this.guards.abandon();
			if (ex != thrown) {
				thrown.addSuppressed(ex);
			}
			failures().addUnjudged(thrown);
			return new GiveUp(GiveUpReason.NOT_RETRYABLE, null);
		}
	}

	private Decision decide(Throwable thrown, boolean expired) {
		long now = this.engine.time().nanoTime();
		Failures failures = failures();
		Throwable nested = nested(thrown);
		if (nested != null) {
			boolean ours = nested == this.nestedThrown;
			boolean gone = ours ? this.nestedGone
					: nested instanceof LlmCallRefusedException refusal && isGone(refusal.reason());
			// It was our own interrupt that ended its wait, not that the caller went
			// away.
			if (!expired || !gone) {
				failures.add(thrown, ours ? this.nestedFailure : null);
				failures.gone = gone;
				this.guards.abandon();
				return new GiveUp(GiveUpReason.NESTED, null);
			}
		}
		LlmFailure judged = this.engine.judge(thrown, expired, this.here, this.guards.provider(), this.options);
		if (this.here && judged.kind() == FailureKind.CANCELLED && CallEngine.hidesInterrupt(thrown)) {
			Thread.currentThread().interrupt();
		}
		LlmFailure failure = this.guards.paced(judged);
		failures.add(thrown, failure);
		// A call that waits for the breaker may be the trial many times. One that says
		// nothing about the provider would be back at once, and has to back off.
		boolean trial = this.guards.isPatientTrial() && failure.kind().breakerEffect() == BreakerEffect.FAILURE;
		AttemptHistory history = trial ? new AttemptHistory() : failures.history;
		history.failed(RetryDecider.ladder(failure), now);
		Situation situation = new Situation(now, this.deadline - now, this.options.maxAttempts(), mayRepeat(),
				this.sideEffect, this.guards.paces(failure), this.escalateAfter, this.guards.provider().areRetriesOn());
		Decision decision = RetryDecider.decide(this.options.policy(), history, failure, situation,
				this.engine.time()::random);
		this.guards.failed(failure, ladderSpent(decision, history, failure));
		if (trial && decision instanceof Retry) {
			return Retry.NOW;
		}
		if (decision instanceof Retry retry) {
			GiveUpReason refused = this.guards.payFor(retry, now);
			if (refused == null) {
				failures.retrying(retry);
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
	 * Finds what a protected call within this one has already given up on, in what was
	 * thrown.
	 */
	private @Nullable Throwable nested(Throwable thrown) {
		Throwable t = thrown;
		for (int depth = 0; t != null && depth < MAX_DEPTH; depth++) {
			if (t == this.nestedThrown || t instanceof LlmCallRefusedException) {
				return t;
			}
			t = t.getCause();
		}
		return null;
	}

	private static boolean isGone(GiveUpReason reason) {
		return reason == GiveUpReason.CANCELLED || reason == GiveUpReason.SHUTDOWN;
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
	 * Tells what a wait in the limiter's queue came to, once it is over.
	 * @param ticket the ticket
	 * @return why the call may not go on, or {@code null} if it may
	 */
	@Nullable LlmCallRefusedException queued(Ticket ticket) {
		if (ticket.state() == State.GRANTED) {
			return null;
		}
		this.guards.abandon();
		return Refusals.limiter(this.guards.provider(), ticket, this.engine.time().now());
	}

	/**
	 * Leaves the limiter's queue without having waited to the end.
	 * @param ticket the ticket
	 */
	void leaveQueue(Ticket ticket) {
		RateLimiter limiter = this.guards.provider().limiter();
		if (!limiter.leave(ticket) && ticket.state() == State.GRANTED) {
			limiter.giveBack(this.guards.permit());
		}
		this.guards.abandon();
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
			failures().add(thrown, failure);
			this.guards.failed(this.guards.paced(failure), false);
			this.guards.back();
		}
		catch (RuntimeException | Error ex) {
			this.guards.abandon();
			failures().addUnjudged(thrown);
		}
		return end(thrown, GiveUpReason.STREAM_BROKEN, null);
	}

	/**
	 * The caller went away while an attempt was in flight.
	 */
	void cancelledInFlight() {
		LlmFailure failure = this.guards.paced(LlmFailure.of(FailureKind.CANCELLED));
		this.guards.failed(failure, false);
		this.guards.back();
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

	private Throwable end(Throwable thrown, GiveUpReason reason, @Nullable Instant retryAt) {
		Failures failures = failures();
		failures.gone |= isGone(reason);
		failures.reason = reason;
		if (this.outer instanceof Call call) {
			call.nestedThrown = thrown;
			call.nestedFailure = failures.last;
			call.nestedGone = failures.gone;
		}
		if (LlmCallReport.find(thrown) == null) {
			thrown.addSuppressed(new LlmCallReport(name(), failures.attempts, reason, retryAt));
		}
		return thrown;
	}

	/**
	 * Whether another provider may take over.
	 * @return whether it may
	 */
	boolean mayFailOver() {
		Failures failures = failures();
		GiveUpReason reason = failures.reason;
		return reason != null && !failures.gone
				&& FailoverRule.allows(this.guards.provider().settings().calls().failoverOn(), reason, failures.last,
						this.sideEffect, mayRepeat());
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
		this.guards.provider()
			.onFailover(new FailoverEvent(name(), target.provider().name(), reason,
					FailoverRule.kind(reason, failures.last), this.engine.time().now()));
		return new Call(this.engine, target, key, tokens, this.place, this.outer, this.engine.time().nanoTime(),
				this.deadline, escalates);
	}

	/**
	 * Whether a fallback may answer instead: never where it would hide a request that was
	 * wrong or a bug of the caller's own, and not for a caller that went away.
	 * @return whether it may
	 */
	boolean mayFallBack() {
		Failures failures = failures();
		LlmFailure last = failures.last;
		return !failures.gone && (last == null || (last.kind() != FailureKind.INVALID_REQUEST
				&& last.kind() != FailureKind.APPLICATION && last.kind() != FailureKind.CANCELLED));
	}

	private Failures failures() {
		Failures failures = this.failures;
		if (failures == null) {
			failures = new Failures();
			this.failures = failures;
		}
		return failures;
	}

	String name() {
		return this.guards.provider().name();
	}

	@Override
	public String provider() {
		if (!this.asked) {
			this.asked = true;
		}
		return name();
	}

	/**
	 * Whether an attempt was made that never asked which provider it is for.
	 */
	boolean isBlind() {
		return this.attempt > 0 && !this.asked;
	}

	@Override
	public int attempt() {
		return this.attempt;
	}

	@Override
	public Duration timeLeft() {
		return Duration.ofNanos(Math.max(0, this.deadline - this.engine.time().nanoTime()));
	}

	@Override
	public String idempotencyKey() {
		String id = this.id;
		if (id == null) {
			String made = "llm-" + Long.toString(randomBits(), RADIX) + Long.toString(randomBits(), RADIX);
			id = ID.compareAndSet(this, null, made) ? made : Objects.requireNonNull(this.id);
		}
		return id + "-" + REQUESTS.incrementAndGet(this);
	}

	private long randomBits() {
		return (long) (this.engine.time().random() * (1L << 53));
	}

	@Override
	public void usedTokens(TokenUsage usage) {
		USED.accumulateAndGet(this, usage, Call::sum);
	}

	private static TokenUsage sum(@Nullable TokenUsage before, TokenUsage more) {
		return (before == null) ? more : new TokenUsage(before.input() + more.input(), before.output() + more.output());
	}

	@Override
	public void sideEffect() {
		this.sideEffect = true;
	}

}
