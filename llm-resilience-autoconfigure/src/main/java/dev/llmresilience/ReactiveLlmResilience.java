package dev.llmresilience;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The programmatic twin of {@link LlmRetry} for reactive code, under the same policies
 * and guards. Each subscription is a call of its own. Available as a bean where Reactor
 * is. Thread-safe.
 */
public interface ReactiveLlmResilience {

	/**
	 * Protects a call with one answer.
	 * @param <T> the type of the answer
	 * @param provider the name of the provider entry
	 * @param call makes one attempt; asked again for each
	 * @return the answer, or what the last attempt failed with, the same object, with an
	 * {@link LlmCallReport} attached, or an {@link LlmCallRefusedException}
	 * @throws IllegalArgumentException if there is no such provider entry
	 */
	<T> Mono<T> mono(String provider, Supplier<? extends Mono<T>> call);

	/**
	 * Protects a call whose answer is a stream. It is retried until its first element has
	 * come; what fails after that reaches the subscriber, so that no element is seen
	 * twice.
	 * @param <T> the type of the elements
	 * @param provider the name of the provider entry
	 * @param call makes one attempt; asked again for each
	 * @return the elements, under the demand of the subscriber
	 * @throws IllegalArgumentException if there is no such provider entry
	 */
	<T> Flux<T> flux(String provider, Supplier<? extends Publisher<T>> call);

	/**
	 * Protects a call whose answer is a stream that may begin anew: a failure after the
	 * first element is retried too, and a {@link StreamEvent.Reset} then voids what came
	 * before.
	 * @param <T> the type of the elements
	 * @param provider the name of the provider entry
	 * @param call makes one attempt; asked again for each
	 * @return the elements, under the demand of the subscriber, of which a reset uses one
	 * @throws IllegalArgumentException if there is no such provider entry
	 */
	default <T> Flux<StreamEvent<T>> stream(String provider, Supplier<? extends Publisher<T>> call) {
		return stream(provider, call, null);
	}

	/**
	 * Protects a call whose answer is a stream that may begin anew, and whose last resort
	 * is a call without streaming.
	 * @param <T> the type of the elements
	 * @param provider the name of the provider entry
	 * @param call makes one attempt; asked again for each
	 * @param fallback answers when the stream has failed for good, or {@code null}
	 * @return the elements, under the demand of the subscriber, of which a reset uses one
	 * @throws IllegalArgumentException if there is no such provider entry
	 */
	<T> Flux<StreamEvent<T>> stream(String provider, Supplier<? extends Publisher<T>> call,
			@Nullable Supplier<? extends Mono<T>> fallback);

	/**
	 * The call that the subscriber is part of, from the Reactor context.
	 * @return the call, or empty outside of one
	 */
	static Mono<LlmCall> currentCall() {
		return Mono.deferContextual((context) -> Mono.justOrEmpty(context.getOrEmpty(LlmCall.CONTEXT_KEY)));
	}

}
