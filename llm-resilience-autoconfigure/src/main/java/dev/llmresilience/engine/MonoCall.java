package dev.llmresilience.engine;

import java.util.Objects;
import dev.llmresilience.engine.BlockingDriver.Body;
import dev.llmresilience.engine.BlockingDriver.Fallback;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/**
 * A call for one subscriber of a {@link Mono}.
 *
 * @param <T> the type of the result
 */
final class MonoCall<T> extends AsyncCall<T> {

	private final Body<? extends @Nullable Publisher<T>> body;

	private final @Nullable Fallback<? extends @Nullable Publisher<T>> fallback;

	private final MonoSink<T> sink;

	/** The fallback that has taken over. */
	private final Disposable.Swap recovery = Disposables.swap();

	MonoCall(CallEngine engine, CallPlan plan, @Nullable Object key, long tokens,
			Body<? extends @Nullable Publisher<T>> body, @Nullable Fallback<? extends @Nullable Publisher<T>> fallback,
			MonoSink<T> sink) {
		super(ReactiveDriver.invocation(engine, plan, key, tokens, sink.contextView()));
		this.body = body;
		this.fallback = fallback;
		this.sink = sink;
		sink.onDispose(this::cancel);
	}

	@Override
	void begin(AsyncAttempt<T> attempt) throws Throwable {
		Publisher<T> publisher = ReactiveDriver.notNull(this.body.run());
		Context context = ReactiveDriver.within(this.sink.contextView(), attempt.call());
		Mono.from(publisher).subscribe(new BaseSubscriber<T>() {

			private @Nullable T value;

			@Override
			public Context currentContext() {
				return context;
			}

			@Override
			protected void hookOnSubscribe(Subscription subscription) {
				attempt.cancelBy(this::cancel);
				subscription.request(Long.MAX_VALUE);
			}

			@Override
			protected void hookOnNext(T value) {
				this.value = value;
			}

			@Override
			protected void hookOnComplete() {
				attempt.succeeded(this.value);
			}

			@Override
			protected void hookOnError(Throwable thrown) {
				attempt.failed(thrown);
			}

		});
	}

	@Override
	void complete(@Nullable T result) {
		this.sink.success(result);
	}

	@Override
	void fail(Throwable failure) {
		this.sink.error(failure);
	}

	@Override
	boolean hasFallback() {
		return this.fallback != null;
	}

	@Override
	void recover(Throwable failure) {
		Mono<T> answer;
		try {
			answer = Mono.from(ReactiveDriver.notNull(Objects.requireNonNull(this.fallback).recover(failure)));
		}
		catch (Throwable ex) {
			answer = Mono.error(ex);
		}
		this.recovery.update(answer.subscribe(this.sink::success, this.sink::error, this.sink::success,
				Context.of(this.sink.contextView())));
	}

	@Override
	void cancel() {
		super.cancel();
		this.recovery.dispose();
	}

}
