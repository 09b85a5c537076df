package dev.llmresilience.failure;

import org.jspecify.annotations.Nullable;

/**
 * Reads the exceptions of one client library into neutral facts, and never judges them.
 * An implementation is the only class that names its library, so that it is loaded only
 * where the library is present ({@link FailureReaders}). Implementations are stateless.
 */
@FunctionalInterface
interface FailureReader {

	/**
	 * Reads one exception, without looking at its causes: those are read in their turn.
	 * @param thrown the exception
	 * @return what it says, or {@code null} for an exception that is not the library's or
	 * that says nothing
	 */
	@Nullable FailureFacts read(Throwable thrown);

}
