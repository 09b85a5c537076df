package dev.llmresilience.aop;

import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.llmresilience.TokenEstimator;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Estimates the tokens of a method's calls. An estimate that fails costs the call
 * nothing: its tokens are then unknown, and one line in the log says so. Thread-safe.
 */
final class CallTokens {

	private static final Log logger = LogFactory.getLog(CallTokens.class);

	private static final String ACTION = "Use a number of tokens, zero or more, such as \"2000\" or "
			+ "\"#text.length() / 4 + 500\".";

	private final Estimate estimate;

	/** Says what estimates, for messages. */
	private final String source;

	private final AtomicBoolean warned = new AtomicBoolean();

	private CallTokens(Estimate estimate, String source) {
		this.estimate = estimate;
		this.source = source;
	}

	/**
	 * Estimates by an expression.
	 * @param expression the expression
	 * @return the estimates
	 * @throws InvalidLlmRetryException if it is a constant that is no number of tokens
	 */
	static CallTokens of(MethodExpression expression) {
		if (!expression.isConstant()) {
			return new CallTokens((invocation) -> expression.evaluate(invocation.getThis(), invocation.getArguments()),
					expression.toString());
		}
		Object value = expression.evaluate(null, new Object[0]);
		if (!(value instanceof Number number) || !isEstimate(number)) {
			throw expression.invalid("is not a number of tokens", ACTION);
		}
		return new CallTokens((invocation) -> number, expression.toString());
	}

	/**
	 * Estimates by the application's estimator.
	 * @param estimator the estimator
	 * @param method the protected method
	 * @return the estimates
	 */
	static CallTokens of(TokenEstimator estimator, Method method) {
		return new CallTokens((invocation) -> Math.max(0, estimator.estimate(method, invocation.getArguments())),
				estimator.getClass().getName() + " for " + method.getDeclaringClass().getName() + "."
						+ method.getName());
	}

	/**
	 * Estimates the tokens of a call.
	 * @param invocation the call
	 * @return the number, zero if unknown
	 */
	long of(MethodInvocation invocation) {
		Object value;
		try {
			value = this.estimate.of(invocation);
		}
		catch (RuntimeException ex) {
			// Neither the message nor the trace: they may hold a prompt.
			warn("threw " + MethodExpression.describe(ex));
			return 0;
		}
		if (value instanceof Number number && isEstimate(number)) {
			return number.longValue();
		}
		if (value != null) {
			warn((value instanceof Number) ? "gave a number that is below zero or not finite"
					: "gave a " + value.getClass().getName());
		}
		return 0;
	}

	private static boolean isEstimate(Number number) {
		return number.doubleValue() >= 0 && Double.isFinite(number.doubleValue());
	}

	private void warn(String what) {
		if (this.warned.compareAndSet(false, true)) {
			logger.warn("No estimate of tokens: " + this.source + " " + what
					+ ". Such calls are taken to use what limiter.default-tokens says. " + ACTION);
		}
	}

	/** One way to estimate. */
	@FunctionalInterface
	private interface Estimate {

		@Nullable Object of(MethodInvocation invocation);

	}

}
