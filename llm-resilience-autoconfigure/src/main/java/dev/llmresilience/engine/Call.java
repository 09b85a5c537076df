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
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmCallReport.Attempt;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.TokenUsage;
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

	private final Place place;

	/** The call that this one is nested in. */
	private final @Nullable LlmCall outer;

	private final Guards guards;

	private final long start;

	private final long deadline;

	private int attempt;

	private long attemptStart;

	private @Nullable RunningAttempt running;

	private volatile boolean sideEffect;

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

	Call(CallEngine engine, Provider provider, CallOptions options, long tokens) {
		this.engine = engine;
		this.options = options;
		this.place = place();
		this.outer = this.place.current();
		this.start = engine.time().nanoTime();
		this.guards = new Guards(provider, engine.time(), (this.outer instanceof Call call) ? call.guards : null,
				options.priority(), tokens, this.start);
		this.deadline = this.start + options.timeoutNanos();
	}

	/**
	 * Makes this the current call of the thread that created it.
	 */
	void enter() {
		this.place.enter(this);
	}

	/**
	 * Makes the call around this one the current one again.
	 */
	void leave() {
		this.place.enter(this.outer);
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
		LlmCallRefusedException refusal = this.engine.isClosed() ? Refusals.shutdown(provider())
				: (this.deadline - now <= 0) ? Refusals.deadline(provider()) : null;
		if (refusal != null) {
			this.guards.abandon();
			return refusal;
		}
		return this.guards.admit();
	}

	/**
	 * Begins an attempt on the calling thread.
	 * @param now the monotonic clock
	 */
	void begin(long now) {
		this.attempt++;
		if (this.used != null) {
			this.used = null;
		}
		if (this.requests != 0) {
			this.requests = 0;
		}
		this.attemptStart = now;
		long expiry = now + this.options.attemptTimeoutNanos(this.attempt);
		this.running = this.engine.watch().begin((expiry - this.deadline < 0) ? expiry : this.deadline);
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
			failures.add(thrown, ours ? this.nestedFailure : null);
			failures.gone = ours ? this.nestedGone
					: nested instanceof LlmCallRefusedException refusal && isGone(refusal.reason());
			this.guards.abandon();
			return new GiveUp(GiveUpReason.NESTED, null);
		}
		LlmFailure judged = this.engine.judge(thrown, expired, this.guards.provider(), this.options);
		if (judged.kind() == FailureKind.CANCELLED && CallEngine.hidesInterrupt(thrown)) {
			Thread.currentThread().interrupt();
		}
		LlmFailure failure = this.guards.paced(judged);
		failures.add(thrown, failure);
		failures.history.failed(RetryDecider.ladder(failure), now);
		Situation situation = new Situation(now, this.deadline - now, this.options.maxAttempts(), mayRepeat(),
				this.sideEffect, this.guards.paces(failure));
		Decision decision = RetryDecider.decide(this.options.policy(), failures.history, failure, situation,
				this.engine.time()::random);
		this.guards.failed(failure, ladderSpent(decision, failures.history, failure));
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
	 * Ends the call because its thread was interrupted while it waited.
	 * @return what the caller gets: what the last attempt threw, or a
	 * {@link CancellationException} if there was none
	 */
	Throwable cancelled() {
		Throwable last = failures().lastThrownOrNull();
		if (last == null) {
			last = new CancellationException("Interrupted while the call to '" + provider() + "' waited for its turn");
		}
		return end(last, GiveUpReason.CANCELLED, null);
	}

	private Throwable end(Throwable thrown, GiveUpReason reason, @Nullable Instant retryAt) {
		Failures failures = failures();
		failures.gone |= isGone(reason);
		if (this.outer instanceof Call call) {
			call.nestedThrown = thrown;
			call.nestedFailure = failures.last;
			call.nestedGone = failures.gone;
		}
		if (LlmCallReport.find(thrown) == null) {
			thrown.addSuppressed(new LlmCallReport(provider(), failures.attempts, reason, retryAt));
		}
		return thrown;
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

	@Override
	public String provider() {
		return this.guards.provider().name();
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
