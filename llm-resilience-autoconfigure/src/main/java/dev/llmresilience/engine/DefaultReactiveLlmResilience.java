package dev.llmresilience.engine;

import java.util.function.Supplier;

import dev.llmresilience.ReactiveLlmResilience;
import dev.llmresilience.StreamEvent;
import dev.llmresilience.engine.BlockingDriver.Fallback;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The programmatic way to make protected reactive calls. Thread-safe.
 */
public final class DefaultReactiveLlmResilience implements ReactiveLlmResilience {

	private final Providers providers;

	private final ReactiveDriver driver;

	/**
	 * Creates it.
	 * @param providers the provider entries
	 * @param driver makes the calls
	 */
	public DefaultReactiveLlmResilience(Providers providers, ReactiveDriver driver) {
		this.providers = providers;
		this.driver = driver;
	}

	@Override
	public <T> Mono<T> mono(String provider, Supplier<? extends Mono<T>> call) {
		return this.driver.mono(this.providers.plan(provider), null, 0, call::get, null);
	}

	@Override
	public <T> Flux<T> flux(String provider, Supplier<? extends Publisher<T>> call) {
		return this.driver.flux(this.providers.plan(provider), null, 0, call::get, null);
	}

	@Override
	public <T> Flux<StreamEvent<T>> stream(String provider, Supplier<? extends Publisher<T>> call,
			@Nullable Supplier<? extends Mono<T>> fallback) {
		Fallback<Publisher<T>> answer = (fallback != null) ? (failure) -> fallback.get() : null;
		return this.driver.stream(this.providers.plan(provider), call::get, answer);
	}

}
