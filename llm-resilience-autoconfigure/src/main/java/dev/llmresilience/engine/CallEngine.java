package dev.llmresilience.engine;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import dev.llmresilience.LlmCallListener;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.failure.FailureClassifier;
import dev.llmresilience.failure.ResultClassifiers;
import dev.llmresilience.time.TimeSource;
import dev.llmresilience.time.TimeSource.Waiter;
import dev.llmresilience.tokens.TokenUsageReaders;
import org.jspecify.annotations.Nullable;

/**
 * What the calls of one application share, whoever drives them: time, the judge of
 * failures, and the waits that a shutdown ends. Thread-safe.
 */
public final class CallEngine implements AutoCloseable {

	private final TimeSource time;

	private final FailureJudge judge;

	private final TokenUsageReaders usages;

	private final AttemptWatch watch;

	private final ContextCarrier context;

	private final CallTrace.Tracer tracer;

	private final LlmCallListener listener;

	private final boolean observing;

	/** Ends the waits that are under way. */
	private final Set<Runnable> waiting = ConcurrentHashMap.newKeySet();

	/** End the waits for attempts that are in flight. */
	private final Set<Runnable> inFlight = ConcurrentHashMap.newKeySet();

	private volatile boolean closed;

	private volatile boolean ended;

	/**
	 * Creates an engine.
	 * @param time clock, timers and randomness
	 * @param classifier judges what attempts throw
	 */
	public CallEngine(TimeSource time, FailureClassifier classifier) {
		this(new Builder(time, classifier));
	}

	private CallEngine(Builder builder) {
		this.time = builder.time;
		this.judge = new FailureJudge(builder.time, builder.classifier, builder.results);
		this.usages = builder.usages;
		this.context = Leading.with(builder.context);
		this.tracer = builder.tracer;
		this.listener = builder.listener;
		this.observing = builder.observing;
		this.watch = new AttemptWatch(builder.time);
	}

	/**
	 * Begins to build an engine that does more than judge what attempts throw.
	 * @param time clock, timers and randomness
	 * @param classifier judges what attempts throw
	 * @return the builder
	 */
	public static Builder builder(TimeSource time, FailureClassifier classifier) {
		return new Builder(time, classifier);
	}

	TimeSource time() {
		return this.time;
	}

	ContextCarrier context() {
		return this.context;
	}

	CallTrace.Tracer tracer() {
		return this.tracer;
	}

	/**
	 * Whether calls are only judged and counted: no call waits, is refused, bounded or
	 * made again.
	 */
	boolean isObserving() {
		return this.observing;
	}

	/** Must not throw. */
	LlmCallListener listener() {
		return this.listener;
	}

	FailureJudge judge() {
		return this.judge;
	}

	AttemptWatch watch() {
		return this.watch;
	}

	boolean isClosed() {
		return this.closed;
	}

	/** Whether nobody may wait for an attempt any more. */
	boolean isEnded() {
		return this.ended;
	}

	/**
	 * The tokens that a successful attempt has used, or {@code null} if its result does
	 * not say.
	 */
	@Nullable TokenUsage usage(@Nullable Object result) {
		return (result != null) ? this.usages.read(result) : null;
	}

	/**
	 * Lets the calling thread wait, until the time has passed or the engine closes.
	 * @param nanos the wait
	 * @throws InterruptedException if the thread is interrupted
	 */
	void pause(long nanos) throws InterruptedException {
		if (nanos <= 0) {
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
			return;
		}
		Waiter waiter = this.time.waiter();
		Runnable end = waiter::signal;
		await(end);
		try {
			if (!this.closed) {
				waiter.await(nanos);
			}
		}
		finally {
			awaited(end);
		}
	}

	/**
	 * A wait begins that a shutdown has to end.
	 * @param end ends it; may be called more than once
	 */
	void await(Runnable end) {
		this.waiting.add(end);
	}

	/**
	 * A wait is over.
	 * @param end the same as before
	 */
	void awaited(Runnable end) {
		this.waiting.remove(end);
	}

	/**
	 * A wait begins for an attempt that another thread makes, or none.
	 * @param leave ends the wait, and leaves the attempt behind; may be called more than
	 * once
	 */
	void inFlight(Runnable leave) {
		this.inFlight.add(leave);
		if (this.ended) {
			leave.run();
		}
	}

	/**
	 * An attempt has ended.
	 * @param leave the same as before
	 */
	void landed(Runnable leave) {
		this.inFlight.remove(leave);
	}

	/**
	 * Ends all waits at once and refuses further attempts. Attempts in flight go on.
	 */
	@Override
	public void close() {
		this.closed = true;
		this.waiting.forEach(Runnable::run);
	}

	/**
	 * Closes, and ends the waits for attempts in flight too: when the time source is
	 * closed, nobody would notice any more that the time of one is over. An attempt that
	 * the caller's own thread makes goes on.
	 */
	public void end() {
		close();
		this.ended = true;
		this.inFlight.forEach(Runnable::run);
	}

	/**
	 * Builds an engine. Not thread-safe.
	 */
	public static final class Builder {

		private final TimeSource time;

		private final FailureClassifier classifier;

		private ResultClassifiers results = new ResultClassifiers(List.of());

		private TokenUsageReaders usages = new TokenUsageReaders(List.of());

		private ContextCarrier context = ContextCarrier.NONE;

		private CallTrace.Tracer tracer = CallTrace.Tracer.NONE;

		private LlmCallListener listener = (report) -> {
		};

		private boolean observing;

		private Builder(TimeSource time, FailureClassifier classifier) {
			this.time = time;
			this.classifier = classifier;
		}

		/**
		 * Judges what attempts return, too.
		 * @param results the judges; none by default
		 * @return this
		 */
		public Builder results(ResultClassifiers results) {
			this.results = results;
			return this;
		}

		/**
		 * Reads from what attempts return how many tokens they have used.
		 * @param usages the readers; none by default
		 * @return this
		 */
		public Builder usages(TokenUsageReaders usages) {
			this.usages = usages;
			return this;
		}

		/**
		 * Carries the context of callers to other threads.
		 * @param context the carrier; none by default
		 * @return this
		 */
		public Builder context(ContextCarrier context) {
			this.context = context;
			return this;
		}

		/**
		 * Traces calls.
		 * @param tracer the tracer; none by default
		 * @return this
		 */
		public Builder tracer(CallTrace.Tracer tracer) {
			this.tracer = tracer;
			return this;
		}

		/**
		 * Hears of calls that needed a retry, or failed.
		 * @param listener the listener, which must not throw; none by default
		 * @return this
		 */
		public Builder listener(LlmCallListener listener) {
			this.listener = listener;
			return this;
		}

		/**
		 * Only judges calls, and counts what would have been done to them.
		 * @param observing whether to; {@code false} by default
		 * @return this
		 */
		public Builder observing(boolean observing) {
			this.observing = observing;
			return this;
		}

		/**
		 * Builds the engine.
		 * @return the engine
		 */
		public CallEngine build() {
			return new CallEngine(this);
		}

	}

}
