package dev.llmresilience.autoconfigure;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import dev.llmresilience.LlmResilience;
import dev.llmresilience.engine.Providers;

/**
 * Makes calls as they are, for {@code llm.resilience.enabled=false}: switching the
 * protection off must not break the beans that ask for it. Thread-safe.
 */
final class UnprotectedCalls implements LlmResilience {

	private final Providers providers;

	UnprotectedCalls(Providers providers) {
		this.providers = providers;
	}

	@Override
	public <T> T call(String provider, Callable<T> callable) throws Exception {
		return callable.call();
	}

	@Override
	public <T> CompletableFuture<T> callAsync(String provider, Supplier<? extends CompletionStage<T>> supplier) {
		return supplier.get().toCompletableFuture();
	}

	@Override
	public <T> T withDeadline(Duration timeLeft, Callable<T> task) throws Exception {
		return task.call();
	}

	/** Of a limiter that no call passes: what cannot be set is refused all the same. */
	@Override
	public void setRequestsPerMinute(String provider, double requestsPerMinute) {
		this.providers.setRequestsPerMinute(provider, requestsPerMinute);
	}

}
