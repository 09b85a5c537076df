package dev.llmresilience;

import java.util.concurrent.Callable;

/**
 * The programmatic twin of {@link LlmRetry}: the same policies and guards for code that
 * cannot carry an annotation. Available as a bean. Thread-safe.
 */
public interface LlmResilience {

	/**
	 * Makes a call under the policy and guards of a provider entry, on the calling
	 * thread.
	 * @param <T> the type of the result
	 * @param provider the name of the provider entry
	 * @param callable the call; it may run several times
	 * @return what the call returned
	 * @throws Exception what the last attempt threw, the same object, with an
	 * {@link LlmCallReport} attached
	 * @throws LlmCallRefusedException if the call was never let out
	 * @throws IllegalArgumentException if there is no such provider entry
	 */
	<T> T call(String provider, Callable<T> callable) throws Exception;

	/**
	 * Sets the rate at which the calls of a provider entry leave, while running; calls
	 * that wait follow. Entries that share its limiter follow too, and so do the limiters
	 * of the entry's {@link LlmRetry#key() keys}. Nothing is written to the
	 * configuration.
	 * @param provider the name of the provider entry
	 * @param requestsPerMinute calls a minute, above 0, decimals allowed
	 * @throws IllegalArgumentException if there is no such provider entry, or the rate is
	 * not above 0 or not finite
	 */
	void setRequestsPerMinute(String provider, double requestsPerMinute);

}
