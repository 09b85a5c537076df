package dev.llmresilience.autoconfigure;

import java.util.concurrent.Callable;

import dev.llmresilience.LlmResilience;

/**
 * Makes calls as they are, for {@code llm.resilience.enabled=false}: switching the
 * protection off must not break the beans that ask for it. Immutable; thread-safe.
 */
final class UnprotectedCalls implements LlmResilience {

	@Override
	public <T> T call(String provider, Callable<T> callable) throws Exception {
		return callable.call();
	}

}
