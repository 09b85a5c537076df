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

}
