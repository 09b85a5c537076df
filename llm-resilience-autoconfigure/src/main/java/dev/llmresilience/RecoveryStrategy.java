package dev.llmresilience;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Decides what happens when a method has failed whose repeat may do harm, such as a tool
 * that sends a message. A bean of this type holds for those methods that name it:
 *
 * <pre class="code">
 * &#64;LlmRetry(recovery = "sendOnce")
 * void send(String address, String text) {
 *     this.mail.send(address, text);
 * }
 * </pre>
 *
 * Such a method is no call to a model: no limiter, retry budget, circuit breaker or quota
 * latch has to do with it, and no failover. It runs at most six times, whatever the
 * strategy says, and fewer where {@link LlmRetry#maxAttempts()} says so. The waits in
 * between are drawn from zero to 100 ms, then 200 ms, and so on, doubled each time; they
 * are never shorter than what the server asked for. The failure reaches the caller
 * instead of a further run when the server asked for more than 30 seconds, when a
 * protected call within the method has given up already, when the caller is interrupted,
 * and when the application shuts down.
 * <p>
 * A strategy is not asked about a caller that went away, nor about an {@link Error}. What
 * it throws is added to the failure as a suppressed exception, and the failure reaches
 * the caller. Implementations are thread-safe.
 */
@FunctionalInterface
public interface RecoveryStrategy {

	/**
	 * Decides. Asked on the caller's thread after each run that fails, also after one
	 * that no retry can follow.
	 * @param run the run that has failed
	 * @return what to do
	 */
	Recovery recover(FailedRun run);

	/**
	 * A run that has failed.
	 *
	 * @param thrown what the method threw
	 * @param failure the same, judged by the rules of the provider entry that the
	 * annotation names, for what is behind the method
	 * @param method the method
	 * @param arguments its arguments, not to be changed
	 * @param runs how often the method has run for this call, {@code 1} after the first
	 */
	record FailedRun(Throwable thrown, LlmFailure failure, Method method, List<@Nullable Object> arguments, int runs) {

		/**
		 * Creates it.
		 */
		public FailedRun {
			arguments = Collections.unmodifiableList(new ArrayList<>(arguments));
		}

		/** Leaves out the arguments, because prompts do not belong in a log. */
		@Override
		public String toString() {
			return "FailedRun[kind=" + this.failure.kind() + ", method=" + this.method.getName() + ", runs=" + this.runs
					+ "]";
		}

	}

}
