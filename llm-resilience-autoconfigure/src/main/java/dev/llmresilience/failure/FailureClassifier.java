package dev.llmresilience.failure;

import dev.llmresilience.LlmFailure;
import org.jspecify.annotations.Nullable;

/**
 * Judges what a call threw. Implementations are asked from any thread and must be
 * thread-safe; they answer quickly and never throw.
 */
@FunctionalInterface
public interface FailureClassifier {

	/**
	 * Judges a throwable.
	 * @param thrown what the attempt threw
	 * @param context what is known around it
	 * @return the failure, or {@code null} for "I do not know this one"
	 */
	@Nullable LlmFailure classify(Throwable thrown, FailureContext context);

}
