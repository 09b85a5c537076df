package dev.llmresilience.engine;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

import dev.llmresilience.LlmCall;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * What the code within a call sees of it, and tells it. That code may run on any thread,
 * so all of this is thread-safe.
 */
abstract class CallView extends LlmCall {

	private static final AtomicReferenceFieldUpdater<CallView, TokenUsage> USED = AtomicReferenceFieldUpdater
		.newUpdater(CallView.class, TokenUsage.class, "used");

	private static final AtomicReferenceFieldUpdater<CallView, String> ID = AtomicReferenceFieldUpdater
		.newUpdater(CallView.class, String.class, "id");

	private static final AtomicIntegerFieldUpdater<CallView> REQUESTS = AtomicIntegerFieldUpdater
		.newUpdater(CallView.class, "requests");

	private static final int RADIX = 36;

	private final TimeSource time;

	private int attempt;

	private volatile boolean sideEffect;

	/** Whether somebody wanted to know the provider. */
	private volatile boolean asked;

	/** Made for whoever asks first. */
	private volatile @Nullable String id;

	/** The requests of this attempt that have asked for a key. */
	private volatile int requests;

	/** The tokens that the attempt says it has used. */
	private volatile @Nullable TokenUsage used;

	CallView(TimeSource time) {
		this.time = time;
	}

	/** The name of the provider entry. */
	abstract String name();

	/**
	 * Another attempt begins.
	 * @return its number
	 */
	int nextAttempt() {
		this.attempt++;
		if (this.used != null) {
			this.used = null;
		}
		if (this.requests != 0) {
			this.requests = 0;
		}
		return this.attempt;
	}

	@Override
	public int attempt() {
		return this.attempt;
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
	public String idempotencyKey() {
		String id = this.id;
		if (id == null) {
			String made = "llm-" + Long.toString(randomBits(), RADIX) + Long.toString(randomBits(), RADIX);
			id = ID.compareAndSet(this, null, made) ? made : Objects.requireNonNull(this.id);
		}
		return id + "-" + REQUESTS.incrementAndGet(this);
	}

	private long randomBits() {
		return (long) (this.time.random() * (1L << 53));
	}

	@Override
	public void usedTokens(TokenUsage usage) {
		USED.accumulateAndGet(this, usage, CallView::sum);
	}

	private static TokenUsage sum(@Nullable TokenUsage before, TokenUsage more) {
		return (before == null) ? more : new TokenUsage(before.input() + more.input(), before.output() + more.output());
	}

	@Nullable TokenUsage used() {
		return this.used;
	}

	@Override
	public void sideEffect() {
		this.sideEffect = true;
	}

	boolean hasSideEffect() {
		return this.sideEffect;
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
		if (outer instanceof Call call && call.deadline() - deadline < 0) {
			// Which also carries a bound to the threads that the outer call goes on at.
			deadline = call.deadline();
		}
		return deadline;
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
	 * Makes a call the current one of the calling thread.
	 * @param call the call, or {@code null} for none
	 */
	static void restore(@Nullable LlmCall call) {
		place().enter(call);
	}

	/**
	 * What the application asked for once: shared by the calls that are made for it, one
	 * provider entry after the other. Immutable.
	 */
	static final class Invocation {

		private final CallEngine engine;

		private final CallPlan plan;

		private final @Nullable Object key;

		private final long tokens;

		/** That of the thread that it began on. */
		private final Place place;

		private final @Nullable LlmCall outer;

		private final @Nullable Object parentTrace;

		private final long start;

		private final long deadline;

		/**
		 * Begins an invocation on the calling thread, which may be within a call.
		 * @param engine what its calls share with all others
		 * @param plan the entries that they are made under
		 * @param key the key whose guards they are under, or {@code null}
		 * @param tokens the tokens that one is estimated to use, zero or less if unknown
		 */
		Invocation(CallEngine engine, CallPlan plan, @Nullable Object key, long tokens) {
			this(engine, plan, key, tokens, null, null);
		}

		/**
		 * Begins an invocation.
		 * @param engine what its calls share with all others
		 * @param plan the entries that they are made under
		 * @param key the key whose guards they are under, or {@code null}
		 * @param tokens the tokens that one is estimated to use, zero or less if unknown
		 * @param around the call that it is nested in, or {@code null} for that of the
		 * calling thread
		 * @param parentTrace what its traces belong to, or {@code null} for what the
		 * calling thread does
		 */
		Invocation(CallEngine engine, CallPlan plan, @Nullable Object key, long tokens, @Nullable LlmCall around,
				@Nullable Object parentTrace) {
			this.engine = engine;
			this.plan = plan;
			this.key = key;
			this.tokens = tokens;
			this.place = place();
			this.outer = (around != null) ? around : this.place.current();
			this.parentTrace = parentTrace;
			this.start = engine.time().nanoTime();
			this.deadline = CallView.deadline(this.place, this.outer, this.start, plan.first().options());
		}

		/** Begins the first call. */
		Call begin() {
			return new Call(this, this.plan.first(), this.start, !this.plan.failover().isEmpty());
		}

		CallEngine engine() {
			return this.engine;
		}

		CallPlan plan() {
			return this.plan;
		}

		@Nullable Object key() {
			return this.key;
		}

		long tokens() {
			return this.tokens;
		}

		/** The call that it is nested in. */
		@Nullable LlmCall outer() {
			return this.outer;
		}

		/** What its traces belong to by the Reactor context. */
		@Nullable Object parentTrace() {
			return this.parentTrace;
		}

		/** The latest moment on the monotonic clock at which it may end. */
		long deadline() {
			return this.deadline;
		}

		/** Makes a call the current one of the thread that it began on. */
		void enter(LlmCall call) {
			this.place.enter(call);
		}

		/** Makes the call around it the current one of that thread again. */
		void leave() {
			this.place.enter(this.outer);
		}

	}

	/**
	 * While it is open, the call is the current one of the thread that opened it.
	 */
	static final class Visit implements AutoCloseable {

		private final Place place = place();

		private final @Nullable LlmCall before = this.place.current();

		private final CallTrace.@Nullable Scope scope;

		/**
		 * Makes a call the current one.
		 * @param call the call
		 */
		Visit(Call call) {
			this.place.enter(call);
			this.scope = call.openTrace();
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
