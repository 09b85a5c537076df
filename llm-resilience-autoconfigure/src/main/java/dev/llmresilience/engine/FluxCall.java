package dev.llmresilience.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import dev.llmresilience.engine.BlockingDriver.Body;
import dev.llmresilience.engine.BlockingDriver.Fallback;
import dev.llmresilience.time.TimeSource.Timer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * A call for one subscriber of a stream. Before each element whoever delivers it goes to
 * work on the call, and after it the call waits for the next, so that no time limit and
 * no other attempt can speak to the subscriber in between.
 *
 * @param <T> the type of the elements of an attempt
 * @param <E> the type of the elements of the subscriber
 */
abstract class FluxCall<T, E> extends AsyncCall<T> implements Subscription {

	private final Body<? extends @Nullable Publisher<T>> body;

	private final @Nullable Fallback<? extends @Nullable Publisher<T>> fallback;

	private final CoreSubscriber<? super E> downstream;

	private final Demand demand = new Demand();

	/** The fallback that has taken over. */
	private final AtomicReference<@Nullable Subscription> recovery = new AtomicReference<>();

	private volatile @Nullable Upstream current;

	/** Since when the subscriber has been waiting for an element. */
	private volatile long waitingSince;

	FluxCall(CallEngine engine, CallPlan plan, @Nullable Object key, long tokens,
			Body<? extends @Nullable Publisher<T>> body, @Nullable Fallback<? extends @Nullable Publisher<T>> fallback,
			CoreSubscriber<? super E> downstream) {
		super(ReactiveDriver.invocation(engine, plan, key, tokens, downstream.currentContext()));
		this.body = body;
		this.fallback = fallback;
		this.downstream = downstream;
	}

	/** Makes an element of the subscriber's of one of an attempt's. */
	abstract E item(T value);

	/**
	 * Whether an attempt may fail after its first element and another one begin anew.
	 */
	abstract boolean resets();

	/**
	 * Makes the element that voids those before it.
	 * @param attempt the attempt that begins
	 */
	abstract E reset(int attempt);

	@Override
	void start() {
		this.downstream.onSubscribe(this);
		super.start();
	}

	@Override
	void begin(AsyncAttempt<T> attempt) throws Throwable {
		Upstream upstream = takeOver(attempt);
		ReactiveDriver.notNull(this.body.run()).subscribe(upstream);
	}

	private Upstream takeOver(@Nullable AsyncAttempt<T> attempt) {
		Upstream before = this.current;
		boolean voids = before != null && before.voids();
		this.demand.begin(voids);
		Upstream upstream = new Upstream(attempt);
		this.current = upstream;
		return upstream;
	}

	@Override
	long timeout(Call call, long nanos) {
		Duration first = call.settings().firstElementTimeout();
		return (first != null) ? Math.min(first.toNanos(), call.deadline() - engine().time().nanoTime()) : nanos;
	}

	@Override
	String awaited() {
		return "first element";
	}

	@Override
	void complete(@Nullable T result) {
		this.downstream.onComplete();
	}

	@Override
	void fail(Throwable failure) {
		this.downstream.onError(failure);
	}

	@Override
	boolean hasFallback() {
		return this.fallback != null;
	}

	@Override
	void recover(Throwable failure) {
		Publisher<T> publisher;
		try {
			publisher = ReactiveDriver.notNull(Objects.requireNonNull(this.fallback).recover(failure));
		}
		catch (Throwable ex) {
			publisher = Flux.error(ex);
		}
		publisher.subscribe(takeOver(null));
	}

	@Override
	public void request(long more) {
		if (!Operators.validate(more)) {
			return;
		}
		if (this.demand.add(more)) {
			this.waitingSince = engine().time().nanoTime();
		}
		Upstream current = this.current;
		if (current != null) {
			current.serve();
		}
	}

	@Override
	public void cancel() {
		super.cancel();
		Subscription recovery = this.recovery.getAndSet(Operators.cancelledSubscription());
		if (recovery != null) {
			recovery.cancel();
		}
	}

	/**
	 * What subscribes to one attempt, or to the fallback.
	 */
	private final class Upstream implements CoreSubscriber<T> {

		/** {@code null} for the fallback. */
		private final @Nullable AsyncAttempt<T> attempt;

		private final Context context;

		private final AtomicInteger serving = new AtomicInteger();

		/** Passes on how it ended, until that is done. */
		private volatile @Nullable Runnable end;

		private volatile boolean success;

		private volatile boolean delivers;

		private @Nullable T latest;

		private volatile @Nullable Timer idleTimer;

		Upstream(@Nullable AsyncAttempt<T> attempt) {
			Context context = FluxCall.this.downstream.currentContext();
			this.attempt = attempt;
			this.context = (attempt != null) ? ReactiveDriver.within(context, attempt.call()) : context;
		}

		/** Whether another beginning voids something that the subscriber has got. */
		boolean voids() {
			return resets() && (this.delivers || FluxCall.this.demand.isReserved());
		}

		@Override
		public Context currentContext() {
			return this.context;
		}

		@Override
		public void onSubscribe(Subscription subscription) {
			AsyncAttempt<T> attempt = this.attempt;
			if (attempt != null) {
				attempt.cancelBy(subscription::cancel);
			}
			else if (!FluxCall.this.recovery.compareAndSet(null, subscription)) {
				subscription.cancel();
				return;
			}
			if (FluxCall.this.current == this) {
				FluxCall.this.demand.servedBy(subscription);
				serve();
			}
		}

		/**
		 * Passes on what is asked for, after the new beginning has been told of, and how
		 * it ended after that. One thread at a time does so, for all who ask.
		 */
		void serve() {
			if (this.serving.getAndIncrement() != 0) {
				return;
			}
			int missed = 1;
			while (missed != 0) {
				if (FluxCall.this.demand.owesReserved()) {
					tell();
				}
				FluxCall.this.demand.pass();
				passEnd();
				missed = this.serving.addAndGet(-missed);
			}
		}

		private void tell() {
			AsyncAttempt<T> attempt = this.attempt;
			if (attempt == null) {
				tell(0);
			}
			else if (attempt.claim()) {
				tell(attempt.call().attempt());
				attempt.goesOn();
				attempt.watch();
			}
		}

		private void tell(int number) {
			if (FluxCall.this.demand.takeReserved()) {
				FluxCall.this.downstream.onNext(reset(number));
			}
		}

		private void passEnd() {
			Runnable end = this.end;
			AsyncAttempt<T> attempt = this.attempt;
			if (end == null) {
				return;
			}
			if (!this.success || !FluxCall.this.demand.isReserved()) {
				this.end = null;
				if (attempt == null) {
					// What was not told yet is not told any more.
					FluxCall.this.demand.begin(false);
				}
				end.run();
			}
			else if (attempt != null && !this.delivers && attempt.claim()) {
				// That it was empty is an answer too, so its time is over.
				try {
					delivers(attempt);
				}
				finally {
					attempt.goesOn();
				}
			}
		}

		@Override
		public void onNext(T value) {
			AsyncAttempt<T> attempt = this.attempt;
			if (attempt == null) {
				FluxCall.this.demand.delivered();
				FluxCall.this.downstream.onNext(item(value));
				return;
			}
			if (!attempt.claim()) {
				Operators.onNextDropped(value, this.context);
				return;
			}
			try {
				engine().judge().check(value, attempt.call().entry());
				delivers(attempt);
			}
			catch (Throwable ex) {
				stopIdle();
				attempt.stopWith(ex, breaks());
				return;
			}
			this.latest = value;
			FluxCall.this.demand.delivered();
			try {
				FluxCall.this.downstream.onNext(item(value));
			}
			finally {
				FluxCall.this.waitingSince = engine().time().nanoTime();
				attempt.goesOn();
			}
		}

		private void delivers(AsyncAttempt<T> attempt) {
			Duration idle = attempt.call().settings().idleTimeout();
			if (!this.delivers) {
				this.delivers = true;
				attempt.delivers();
				if (idle != null && this.end == null) {
					watchIdle(attempt, idle, idle.toNanos());
				}
			}
			else if (idle != null) {
				attempt.beginSilence();
			}
		}

		/** Whether a failure cannot be made good by another attempt. */
		private boolean breaks() {
			return this.delivers && !resets();
		}

		@Override
		public void onError(Throwable thrown) {
			AsyncAttempt<T> attempt = this.attempt;
			if (attempt == null) {
				ends(() -> fail(thrown), false);
			}
			else if (breaks()) {
				ends(() -> attempt.broke(thrown), false);
			}
			else {
				ends(() -> attempt.failed(thrown), false);
			}
		}

		@Override
		public void onComplete() {
			AsyncAttempt<T> attempt = this.attempt;
			ends((attempt != null) ? () -> attempt.succeeded(this.latest) : () -> complete(null), true);
		}

		/**
		 * It is over. The subscriber hears of that neither while it is being told of the
		 * new beginning nor, if it is a success, before that.
		 */
		private void ends(Runnable end, boolean success) {
			stopIdle();
			if (!resets()) {
				end.run();
				return;
			}
			this.success = success;
			this.end = end;
			serve();
		}

		/**
		 * Watches for silence, which only counts while an element is asked for and the
		 * subscriber is not busy with the one before.
		 */
		private void watchIdle(AsyncAttempt<T> attempt, Duration idle, long nanos) {
			this.idleTimer = engine().time().schedule(nanos, () -> {
				if (FluxCall.this.isEnded() || attempt.isEnded() || FluxCall.this.current != this) {
					return;
				}
				Step silence = attempt.silence();
				long left = idle.toNanos() - (engine().time().nanoTime() - FluxCall.this.waitingSince);
				if (left > 0 || !FluxCall.this.demand.isOpen()
						|| !attempt.expire(silence, "further element", idle.toNanos(), breaks())) {
					watchIdle(attempt, idle, (left > 0) ? left : idle.toNanos());
				}
			});
		}

		private void stopIdle() {
			Timer timer = this.idleTimer;
			if (timer != null) {
				timer.cancel();
			}
		}

	}

}
