package dev.llmresilience;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * Estimates before a call how many tokens it will use, input and output together. One
 * bean of this type serves all protected methods that have no {@link LlmRetry#tokens()
 * tokens} of their own. The limiter corrects estimates by how they have lately turned
 * out, so they need not be right, only in proportion. Implementations are thread-safe and
 * quick.
 */
@FunctionalInterface
public interface TokenEstimator {

	/**
	 * Estimates the tokens of a call.
	 * @param method the protected method
	 * @param arguments its arguments
	 * @return the number of tokens; zero or less if it cannot be estimated, which leaves
	 * it to {@code limiter.default-tokens}
	 */
	long estimate(Method method, @Nullable Object[] arguments);

}
