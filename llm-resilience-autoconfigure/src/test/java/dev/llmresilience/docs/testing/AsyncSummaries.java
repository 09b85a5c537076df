package dev.llmresilience.docs.testing;

import java.util.concurrent.CompletableFuture;

import dev.llmresilience.LlmRetry;
import reactor.core.publisher.Mono;

import org.springframework.stereotype.Service;

/**
 * Nobody waits for these.
 */
@Service
class AsyncSummaries {

	private final Model model;

	AsyncSummaries(Model model) {
		this.model = model;
	}

	@LlmRetry("anthropic")
	CompletableFuture<String> summariseAsync(String text) {
		return this.model.askAsync(text);
	}

	@LlmRetry("anthropic")
	Mono<String> summariseMono(String text) {
		return this.model.askMono(text);
	}

}
