package dev.llmresilience.engine;

import dev.llmresilience.LlmCall;
import dev.llmresilience.StreamEvent;
import dev.llmresilience.engine.BlockingDriver.Body;
import dev.llmresilience.engine.BlockingDriver.Fallback;
import dev.llmresilience.engine.CallView.Invocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Makes calls whose attempts are publishers: each subscription is a call, and each
 * attempt of it asks for a publisher and subscribes to that. Thread-safe.
 */
public final class ReactiveDriver {

	private final CallEngine engine;

	/**
	 * Creates a driver.
	 * @param engine what its calls share with those of other drivers
	 */
	public ReactiveDriver(CallEngine engine) {
		this.engine = engine;
	}

	/**
	 * Makes calls with one answer.
	 * @param <T> the type of the answer
	 * @param plan the provider entries that they are made under
	 * @param key the key whose guards they are under, or {@code null}
	 * @param tokens the tokens that one is estimated to use, zero or less if unknown
	 * @param body begins one attempt
	 * @param fallback answers when a call has failed for good, or {@code null}
	 * @return makes a call for each subscriber
	 */
	public <T> Mono<T> mono(CallPlan plan, @Nullable Object key, long tokens,
			Body<? extends @Nullable Publisher<T>> body,
			@Nullable Fallback<? extends @Nullable Publisher<T>> fallback) {
		return Mono.create((sink) -> new MonoCall<>(this.engine, plan, key, tokens, body, fallback, sink).start());
	}

	/**
	 * Makes calls whose answer is a stream. They are retried until the first element.
	 * @param <T> the type of the elements
	 * @param plan the provider entries that they are made under
	 * @param key the key whose guards they are under, or {@code null}
	 * @param tokens the tokens that one is estimated to use, zero or less if unknown
	 * @param body begins one attempt
	 * @param fallback answers when a call has failed for good, or {@code null}
	 * @return makes a call for each subscriber
	 */
	public <T> Flux<T> flux(CallPlan plan, @Nullable Object key, long tokens,
			Body<? extends @Nullable Publisher<T>> body,
			@Nullable Fallback<? extends @Nullable Publisher<T>> fallback) {
		return new Calls<>(
				(downstream) -> new FluxCall<T, T>(this.engine, plan, key, tokens, body, fallback, downstream) {

					@Override
					T item(T value) {
						return value;
					}

					@Override
					boolean resets() {
						return false;
					}

					@Override
					T reset(int attempt) {
						throw new IllegalStateException("Elements cannot be taken back");
					}

				});
	}

	/**
	 * Makes calls whose answer is a stream that may begin anew.
	 * @param <T> the type of the elements
	 * @param plan the provider entries that they are made under
	 * @param body begins one attempt
	 * @param fallback answers when a call has failed for good, or {@code null}
	 * @return makes a call for each subscriber
	 */
	public <T> Flux<StreamEvent<T>> stream(CallPlan plan, Body<? extends @Nullable Publisher<T>> body,
			@Nullable Fallback<? extends @Nullable Publisher<T>> fallback) {
		return new Calls<>((downstream) -> new FluxCall<T, StreamEvent<T>>(this.engine, plan, null, 0, body, fallback,
				downstream) {

			@Override
			StreamEvent<T> item(T value) {
				return new StreamEvent.Item<>(value);
			}

			@Override
			boolean resets() {
				return true;
			}

			@Override
			StreamEvent<T> reset(int attempt) {
				return new StreamEvent.Reset<>(attempt);
			}

		});
	}

	/** Begins an invocation by whoever subscribes, which may be within a call. */
	static Invocation invocation(CallEngine engine, CallPlan plan, @Nullable Object key, long tokens,
			ContextView context) {
		return new Invocation(engine, plan, key, tokens, context.getOrDefault(LlmCall.CONTEXT_KEY, null),
				context.getOrDefault(CallTrace.CONTEXT_KEY, null));
	}

	/** The context of an attempt. */
	static Context within(ContextView context, Call call) {
		Context within = Context.of(context).put(LlmCall.CONTEXT_KEY, call);
		Object trace = call.traceValue();
		return (trace != null) ? within.put(CallTrace.CONTEXT_KEY, trace) : within;
	}

	static <T> Publisher<T> notNull(@Nullable Publisher<T> publisher) {
		if (publisher == null) {
			throw new IllegalStateException("The method returned null instead of a publisher");
		}
		return publisher;
	}

	/** Begins a call for one subscriber. */
	@FunctionalInterface
	private interface Start<E> {

		FluxCall<?, E> of(CoreSubscriber<? super E> downstream);

	}

	private static final class Calls<E> extends Flux<E> {

		private final Start<E> start;

		Calls(Start<E> start) {
			this.start = start;
		}

		@Override
		public void subscribe(CoreSubscriber<? super E> downstream) {
			this.start.of(downstream).start();
		}

	}

}
