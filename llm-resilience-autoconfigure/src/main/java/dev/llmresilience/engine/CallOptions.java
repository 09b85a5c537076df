package dev.llmresilience.engine;

import java.util.List;

import dev.llmresilience.Priority;
import dev.llmresilience.policy.RetryPolicy;

/**
 * How one method's calls are made: the provider's policy with what the method itself asks
 * for. Immutable; shared by all calls of the method.
 */
public final class CallOptions {

	private final RetryPolicy policy;

	private final int maxAttempts;

	private final boolean idempotent;

	private final Priority priority;

	private final List<Class<? extends Throwable>> retryOn;

	private final List<Class<? extends Throwable>> noRetryOn;

	private final long timeoutNanos;

	private final long attemptTimeoutNanos;

	/**
	 * Creates options.
	 * @param policy the policy
	 * @param maxAttempts the most attempts over both ladders
	 * @param idempotent whether the call may run twice
	 * @param priority how urgent the call is to those who wait for the same limiter
	 * @param retryOn exceptions to retry even where their kind would not be
	 * @param noRetryOn exceptions not to retry even where their kind would be
	 */
	public CallOptions(RetryPolicy policy, int maxAttempts, boolean idempotent, Priority priority,
			List<Class<? extends Throwable>> retryOn, List<Class<? extends Throwable>> noRetryOn) {
		this.policy = policy;
		this.maxAttempts = maxAttempts;
		this.idempotent = idempotent;
		this.priority = priority;
		this.retryOn = List.copyOf(retryOn);
		this.noRetryOn = List.copyOf(noRetryOn);
		this.timeoutNanos = policy.timeout().toNanos();
		this.attemptTimeoutNanos = policy.attemptTimeout().toNanos();
	}

	/**
	 * The options of a call that asks for nothing special.
	 * @param policy the provider's policy
	 * @return the options
	 */
	public static CallOptions of(RetryPolicy policy) {
		return new CallOptions(policy, Integer.MAX_VALUE, true, Priority.NORMAL, List.of(), List.of());
	}

	/**
	 * How failures are retried.
	 * @return the policy of the provider, with what the method itself asks for
	 */
	public RetryPolicy policy() {
		return this.policy;
	}

	/**
	 * The most attempts over both ladders.
	 * @return the number, {@link Integer#MAX_VALUE} for no limit of its own
	 */
	public int maxAttempts() {
		return this.maxAttempts;
	}

	/**
	 * Whether a call may run twice.
	 * @return whether it may
	 */
	public boolean idempotent() {
		return this.idempotent;
	}

	/**
	 * How urgent a call is to those who wait for the same limiter.
	 * @return the priority
	 */
	public Priority priority() {
		return this.priority;
	}

	List<Class<? extends Throwable>> retryOn() {
		return this.retryOn;
	}

	List<Class<? extends Throwable>> noRetryOn() {
		return this.noRetryOn;
	}

	long timeoutNanos() {
		return this.timeoutNanos;
	}

	/**
	 * The time that an attempt may take.
	 * @param attempt the number of the attempt, 1 for the first
	 * @return nanoseconds
	 */
	long attemptTimeoutNanos(int attempt) {
		double multiplier = this.policy.attemptTimeoutMultiplier();
		return (attempt == 1 || multiplier == 1) ? this.attemptTimeoutNanos
				: (long) (this.attemptTimeoutNanos * Math.pow(multiplier, attempt - 1.0));
	}

}
