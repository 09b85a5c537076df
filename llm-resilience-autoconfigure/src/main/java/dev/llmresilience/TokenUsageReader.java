package dev.llmresilience;

import org.jspecify.annotations.Nullable;

/**
 * Reads from a result how many tokens the call has used. Beans of this type are asked
 * before the built-in readers, in their order. Implementations are thread-safe, quick,
 * and do not throw.
 */
@FunctionalInterface
public interface TokenUsageReader {

	/**
	 * Reads the usage.
	 * @param result what a protected method returned
	 * @return the usage, or {@code null} if this reader does not know the result, or it
	 * does not say
	 */
	@Nullable TokenUsage read(Object result);

}
