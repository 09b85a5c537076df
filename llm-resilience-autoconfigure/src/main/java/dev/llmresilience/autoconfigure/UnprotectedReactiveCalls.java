package dev.llmresilience.autoconfigure;

import java.util.function.Supplier;

import dev.llmresilience.ReactiveLlmResilience;
import dev.llmresilience.StreamEvent;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Makes reactive calls as they are, for {@code llm.resilience.enabled=false}.
 * Thread-safe.
 */
final class UnprotectedReactiveCalls implements ReactiveLlmResilience {

	@Override
	public <T> Mono<T> mono(String provider, Supplier<? extends Mono<T>> call) {
		return Mono.defer(call);
	}

	@Override
	public <T> Flux<T> flux(String provider, Supplier<? extends Publisher<T>> call) {
		return Flux.defer(call);
	}

	@Override
	public <T> Flux<StreamEvent<T>> stream(String provider, Supplier<? extends Publisher<T>> call,
			@Nullable Supplier<? extends Mono<T>> fallback) {
		return Flux.<T>defer(call).map(StreamEvent.Item::new);
	}

}
