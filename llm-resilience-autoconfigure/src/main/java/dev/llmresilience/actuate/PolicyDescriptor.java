package dev.llmresilience.actuate;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import dev.llmresilience.FailureKind;
import dev.llmresilience.aop.ProtectedMethod;
import dev.llmresilience.engine.CallOptions;
import dev.llmresilience.engine.CallSettings;
import dev.llmresilience.engine.CallSettings.AttemptThread;
import dev.llmresilience.engine.CallSettings.OnOpen;
import dev.llmresilience.engine.ProviderSettings;
import dev.llmresilience.policy.Jitter;
import dev.llmresilience.policy.RetryPolicy;
import org.jspecify.annotations.Nullable;

/**
 * A policy as it holds, under the names of its properties. Durations are written as
 * properties are, such as {@code 30s}. Immutable.
 *
 * @param maxAttempts attempts in all on the transport ladder
 * @param rateLimitRetries retries on the rate-limit ladder; absent where time bounds it
 * @param rateLimitMaxElapsed what bounds that ladder by time instead
 * @param rateLimitEscalateAfter failures on it after which another provider takes over;
 * absent where none does
 * @param baseDelay ceiling of the first backoff
 * @param rateLimitBaseDelay ceiling of the first backoff after a rate limit without a
 * hint
 * @param maxDelay largest ceiling
 * @param multiplier growth of the ceiling per failure
 * @param jitter how chance shapes a backoff
 * @param jitterFactor the factor of proportional jitter
 * @param retryAfterSpread most that chance adds to a hint
 * @param maxRetryAfter longest hint that is waited for
 * @param timeout time that a whole call may take
 * @param attemptTimeout time that one attempt may take
 * @param attemptTimeoutMultiplier growth of that per retry
 * @param attemptThread thread on which attempts of blocking calls run
 * @param firstElementTimeout time that a stream may take to its first element
 * @param idleTimeout time that a stream may be silent; absent for no limit
 * @param onOpen what a call does that finds the breaker open
 * @param idempotencyKeyHeader request header that carries the idempotency key; absent for
 * none
 * @param failover entries that take over, in order
 * @param failoverOn kinds of failure that they take over after
 */
public record PolicyDescriptor(int maxAttempts, @Nullable Integer rateLimitRetries,
		@Nullable String rateLimitMaxElapsed, @Nullable Integer rateLimitEscalateAfter, String baseDelay,
		String rateLimitBaseDelay, String maxDelay, double multiplier, Jitter jitter, double jitterFactor,
		String retryAfterSpread, String maxRetryAfter, String timeout, String attemptTimeout,
		double attemptTimeoutMultiplier, AttemptThread attemptThread, String firstElementTimeout,
		@Nullable String idleTimeout, OnOpen onOpen, @Nullable String idempotencyKeyHeader, List<String> failover,
		Set<FailureKind> failoverOn) {

	static PolicyDescriptor of(ProviderSettings settings) {
		return of(settings.policy(), Integer.MAX_VALUE, settings.calls(), settings.calls().failover());
	}

	static PolicyDescriptor of(ProtectedMethod method) {
		CallOptions options = method.options();
		return of(options.policy(), options.maxAttempts(), method.provider().settings().calls(), method.failover());
	}

	private static PolicyDescriptor of(RetryPolicy policy, int most, CallSettings calls, List<String> failover) {
		Duration elapsed = policy.rateLimitMaxElapsed();
		Duration first = calls.firstElementTimeout();
		int rateLimitRetries = policy.retries() ? Math.min(policy.rateLimitRetries(), most - 1) : 0;
		return new PolicyDescriptor(policy.maxAttempts(), (elapsed == null) ? rateLimitRetries : null, text(elapsed),
				failover.isEmpty() ? null : calls.rateLimitEscalateAfter(), DurationText.of(policy.baseDelay()),
				DurationText.of(policy.rateLimitBaseDelay()), DurationText.of(policy.maxDelay()), policy.multiplier(),
				policy.jitter(), policy.jitterFactor(), DurationText.of(policy.retryAfterSpread()),
				DurationText.of(policy.maxRetryAfter()), DurationText.of(policy.timeout()),
				DurationText.of(policy.attemptTimeout()), policy.attemptTimeoutMultiplier(), calls.attemptThread(),
				DurationText.of((first != null) ? first : policy.attemptTimeout()), text(calls.idleTimeout()),
				calls.onOpen(), calls.idempotencyKeyHeader(), failover, new TreeSet<>(calls.failoverOn()));
	}

	private static @Nullable String text(@Nullable Duration duration) {
		return (duration != null) ? DurationText.of(duration) : null;
	}

}
