package dev.llmresilience;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

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
	 * Makes a call whose attempts return futures, under the policy and guards of a
	 * provider entry. No thread waits for it.
	 * @param <T> the type of the result
	 * @param provider the name of the provider entry
	 * @param supplier begins one attempt; it may run several times, the first time on the
	 * calling thread unless it has to wait for its turn
	 * @return completes with what an attempt completed with, or with what the last one
	 * failed with, the same object, with an {@link LlmCallReport} attached, or with an
	 * {@link LlmCallRefusedException}; cancelling it cancels the attempt in flight, or
	 * ends the wait
	 * @throws IllegalArgumentException if there is no such provider entry
	 */
	<T> CompletableFuture<T> callAsync(String provider, Supplier<? extends CompletionStage<T>> supplier);

	/**
	 * Bounds all calls that the calling thread begins within a task, whatever their
	 * policies allow: the way to pass on a deadline that came in with a request. Within
	 * another bound, the earlier one holds.
	 * @param <T> the type of the result
	 * @param timeLeft the time from now on; zero or less lets no call begin
	 * @param task the task
	 * @return what the task returned
	 * @throws Exception what the task threw
	 */
	<T> T withDeadline(Duration timeLeft, Callable<T> task) throws Exception;

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
