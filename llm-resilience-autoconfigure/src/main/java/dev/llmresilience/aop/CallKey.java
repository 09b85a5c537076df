package dev.llmresilience.aop;

import dev.llmresilience.engine.KeyedProvider;
import dev.llmresilience.engine.KeyedProviders;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * The {@link dev.llmresilience.LlmRetry#key() key} of a method's calls, and the guards of
 * its values. Thread-safe.
 */
final class CallKey {

	private final MethodExpression expression;

	private final KeyedProviders guards;

	CallKey(MethodExpression expression, KeyedProviders guards) {
		this.expression = expression;
		this.guards = guards;
	}

	/**
	 * Leases the guards of a call.
	 * @param invocation the call
	 * @return the guards, to be {@linkplain KeyedProvider#release() released}, or
	 * {@code null} for those of the provider entry
	 * @throws IllegalStateException if the key cannot be evaluated: under whose guards
	 * the call belongs is then unknown, and any others could be somebody else's
	 */
	@Nullable KeyedProvider lease(MethodInvocation invocation) {
		Object key;
		try {
			key = this.expression.evaluate(invocation.getThis(), invocation.getArguments());
		}
		catch (RuntimeException ex) {
			throw new IllegalStateException(this.expression + " cannot be evaluated: " + MethodExpression.describe(ex),
					ex);
		}
		return (key != null) ? this.guards.lease(key) : null;
	}

}
