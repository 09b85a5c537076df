package dev.llmresilience.aop;

import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;

import dev.llmresilience.LlmCall;
import dev.llmresilience.engine.BlockingDriver.Body;
import dev.llmresilience.engine.BlockingDriver.Fallback;
import dev.llmresilience.engine.CallPlan;
import dev.llmresilience.engine.ReactiveDriver;
import dev.llmresilience.engine.SharedCalls;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;

/**
 * The calls of methods that return a publisher, or a type of another reactive library
 * that Spring can convert. The method is invoked anew for each attempt, and not before
 * somebody subscribes. Thread-safe.
 */
public final class ReactiveShape implements CallShape.Factory {

	private final ReactiveDriver driver;

	private final ReactiveAdapterRegistry adapters = ReactiveAdapterRegistry.getSharedInstance();

	/**
	 * Creates the shape.
	 * @param driver makes the calls
	 */
	public ReactiveShape(ReactiveDriver driver) {
		this.driver = driver;
	}

	@Override
	public @Nullable CallShape of(Method method) {
		ReactiveAdapter adapter = this.adapters.getAdapter(type(method));
		// What is not deferred runs already, whoever subscribes.
		return (adapter != null && adapter.getDescriptor().isDeferred()) ? new Converted(adapter) : null;
	}

	/** A suspending function returns a publisher to the advice. */
	private static Class<?> type(Method method) {
		if (!Suspending.isPublished(method)) {
			return method.getReturnType();
		}
		return Suspending.isFlow(method) ? Flux.class : Mono.class;
	}

	private final class Converted implements CallShape {

		private final ReactiveAdapter adapter;

		Converted(ReactiveAdapter adapter) {
			this.adapter = adapter;
		}

		@Override
		public boolean canShare() {
			return !this.adapter.isMultiValue();
		}

		@Override
		public Object share(SharedCalls shared, Object method, CallPlan plan, Object value,
				Body<@Nullable Object> call) {
			return this.adapter.fromPublisher(Mono.deferContextual((context) -> {
				LlmCall around = context.getOrDefault(LlmCall.CONTEXT_KEY, LlmCall.current());
				return Mono
					.fromFuture(shared.callAsync(method, plan, value, around, () -> future(call, Context.of(context))));
			}));
		}

		private CompletableFuture<Object> future(Body<@Nullable Object> call, Context context) {
			try {
				return Mono.<Object>from(this.adapter.toPublisher(call.run())).contextWrite(context).toFuture();
			}
			catch (Throwable ex) {
				return CompletableFuture.failedFuture(ex);
			}
		}

		@Override
		public Object call(CallPlan plan, @Nullable Object key, long tokens, Body<@Nullable Object> body,
				@Nullable Fallback<@Nullable Object> fallback) {
			ReactiveDriver driver = ReactiveShape.this.driver;
			Body<Publisher<Object>> attempt = () -> this.adapter.toPublisher(body.run());
			Fallback<Publisher<Object>> answer = (fallback != null)
					? (failure) -> this.adapter.toPublisher(fallback.recover(failure)) : null;
			return this.adapter
				.fromPublisher(this.adapter.isMultiValue() ? driver.flux(plan, key, tokens, attempt, answer)
						: driver.mono(plan, key, tokens, attempt, answer));
		}

	}

}
