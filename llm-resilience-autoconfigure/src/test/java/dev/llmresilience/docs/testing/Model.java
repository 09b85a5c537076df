package dev.llmresilience.docs.testing;

import java.util.concurrent.CompletableFuture;

import reactor.core.publisher.Mono;

/**
 * A model, however it is reached.
 */
interface Model {

	String ask(String text);

	default CompletableFuture<String> askAsync(String text) {
		return CompletableFuture.completedFuture(ask(text));
	}

	default Mono<String> askMono(String text) {
		return Mono.just(ask(text));
	}

}
