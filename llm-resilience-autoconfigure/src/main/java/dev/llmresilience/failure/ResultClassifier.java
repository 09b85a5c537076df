package dev.llmresilience.failure;

import dev.llmresilience.LlmFailure;
import org.jspecify.annotations.Nullable;

/**
 * Finds failures in what a call returned: some providers and gateways answer 200 and put
 * the error into the body. A failure that is found is treated as if the call had thrown
 * it.
 * <p>
 * Implementations are asked for every result of every call, from any thread: they must be
 * thread-safe and quick, look at the types they know only, and never throw. An answer
 * without content is no failure: the provider served the call, and may have billed it.
 */
@FunctionalInterface
public interface ResultClassifier {

	/**
	 * Whether a result is of a type that can be judged at all. Asked first, for every
	 * result, so that the others cost nothing.
	 * @param result what the call returned
	 * @return whether to judge it; {@code true} unless overridden
	 */
	default boolean knows(Object result) {
		return true;
	}

	/**
	 * Judges a result.
	 * @param result what the call returned; for a stream, one of its elements
	 * @param context what is known around it
	 * @return the failure, or {@code null} for a result that is none or of another type
	 */
	@Nullable LlmFailure classify(Object result, FailureContext context);

}
