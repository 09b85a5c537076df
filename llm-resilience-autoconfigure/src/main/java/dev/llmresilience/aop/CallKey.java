package dev.llmresilience.aop;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * The {@link dev.llmresilience.LlmRetry#key() key} of a method's calls. Thread-safe.
 */
final class CallKey {

	private final MethodExpression expression;

	CallKey(MethodExpression expression) {
		this.expression = expression;
	}

	/**
	 * Evaluates the key of a call.
	 * @param invocation the call
	 * @return the key, or {@code null} for the guards of the provider entry
	 * @throws IllegalStateException if the key cannot be evaluated: under whose guards
	 * the call belongs is then unknown, and any others could be somebody else's
	 */
	@Nullable Object of(MethodInvocation invocation) {
		try {
			return this.expression.evaluate(invocation.getThis(), invocation.getArguments());
		}
		catch (RuntimeException ex) {
			throw new IllegalStateException(this.expression + " cannot be evaluated: " + MethodExpression.describe(ex),
					MethodExpression.withoutMessage(ex));
		}
	}

}
