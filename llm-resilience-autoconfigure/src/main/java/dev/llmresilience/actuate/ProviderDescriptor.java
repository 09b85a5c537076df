package dev.llmresilience.actuate;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import dev.llmresilience.Priority;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.aop.PolicySource;
import dev.llmresilience.aop.ProtectedMethod;
import dev.llmresilience.breaker.QuotaLatch;
import dev.llmresilience.breaker.QuotaSnapshot;
import dev.llmresilience.budget.RetryBudget;
import dev.llmresilience.engine.Provider;
import dev.llmresilience.failure.ProviderType;
import dev.llmresilience.limiter.LimitSnapshot;
import dev.llmresilience.limiter.LimitSnapshot.Origin;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.limiter.LimiterSnapshot;
import dev.llmresilience.limiter.RateLimiter;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * One provider entry as {@link LlmProvidersEndpoint} shows it. Immutable.
 *
 * @param type whose rules judge its failures
 * @param account who pays
 * @param retries whether its failures are retried at present, {@code ON} or {@code OFF}
 * @param limiter what paces its calls
 * @param budget what rations its retries; absent where that is switched off
 * @param quota what shuts its calls off while a quota is exhausted
 * @param policy how its calls are retried, all inherited values filled in
 * @param programmatic whether calls have been made under it without an annotation, which
 * have that policy
 * @param methods the annotated methods that use it
 * @param layers other layers that retry its calls, as found at the start
 */
public record ProviderDescriptor(ProviderType type, String account, String retries, LimiterDescriptor limiter,
		@Nullable BudgetDescriptor budget, QuotaDescriptor quota, PolicyDescriptor policy, boolean programmatic,
		List<MethodDescriptor> methods, List<LayerDescriptor> layers) implements OperationResponseBody {

	private static final double THOUSANDTHS = 1000;

	/** JSON knows no infinity, and nobody wants to read 15 digits. */
	private static double rounded(double number) {
		return Math.round(number * THOUSANDTHS) / THOUSANDTHS;
	}

	private static @Nullable Double rounded(@Nullable Double number) {
		return (number != null) ? Double.valueOf(rounded(number.doubleValue())) : null;
	}

	private static @Nullable Instant millis(@Nullable Instant instant) {
		return (instant != null) ? instant.truncatedTo(ChronoUnit.MILLIS) : null;
	}

	/**
	 * What paces calls.
	 *
	 * @param mode how it paces
	 * @param sharedWith the entry whose limiter this is; absent for one of its own
	 * @param share part of all rates that is for this process
	 * @param configuredRequestsPerMinute the rate that was configured, or set since, for
	 * all processes together; absent for none
	 * @param requestsPerMinute the rate of this process that holds at present; absent
	 * while every call passes
	 * @param level calls that could leave at once; absent while every call passes
	 * @param waiting calls that wait
	 * @param callsInFlight calls under way; absent where nobody counts them
	 * @param maxConcurrentCalls most calls under way; absent for no limit
	 * @param pausedUntil when the next call may leave after a rejection; absent while
	 * nothing holds all of them back
	 * @param limits the limits that hold at present, by what is limited
	 */
	public record LimiterDescriptor(LimiterMode mode, @Nullable String sharedWith, double share,
			@Nullable Double configuredRequestsPerMinute, @Nullable Double requestsPerMinute, @Nullable Double level,
			int waiting, @Nullable Long callsInFlight, @Nullable Integer maxConcurrentCalls,
			@Nullable Instant pausedUntil, Map<Dimension, LimitDescriptor> limits) {

		static LimiterDescriptor of(RateLimiter limiter, @Nullable String sharedWith) {
			LimiterSettings settings = limiter.settings();
			LimiterSnapshot snapshot = limiter.snapshot();
			Map<Dimension, LimitDescriptor> limits = new LinkedHashMap<>();
			Instant pausedUntil = null;
			for (LimitSnapshot limit : snapshot.limits()) {
				limits.put(limit.dimension(), LimitDescriptor.of(limit));
				Instant until = limit.pausedUntil();
				if (until != null && (pausedUntil == null || until.isAfter(pausedUntil))) {
					pausedUntil = until;
				}
			}
			LimitDescriptor requests = limits.get(Dimension.REQUESTS);
			return new LimiterDescriptor(settings.mode(), sharedWith, settings.share(),
					rounded(snapshot.configuredRequestsPerMinute()), (requests != null) ? requests.perMinute() : null,
					(requests != null) ? requests.level() : null, snapshot.waiting(), snapshot.inFlight(),
					settings.maxConcurrentCalls(), millis(pausedUntil), limits);
		}

	}

	/**
	 * One limit.
	 *
	 * @param perMinute calls or tokens a minute
	 * @param origin where that rate comes from
	 * @param capacity calls or tokens that may be used at once after a pause
	 * @param level calls or tokens that could be used at once
	 */
	public record LimitDescriptor(double perMinute, Origin origin, double capacity, double level) {

		static LimitDescriptor of(LimitSnapshot limit) {
			return new LimitDescriptor(rounded(limit.perMinute()), limit.origin(), rounded(limit.capacity()),
					rounded(limit.level()));
		}

	}

	/**
	 * What rations retries.
	 *
	 * @param tokens retries that are left, with a fraction
	 * @param capacity most retries that can be saved up
	 */
	public record BudgetDescriptor(double tokens, double capacity) {

		static @Nullable BudgetDescriptor of(@Nullable RetryBudget budget) {
			return (budget != null) ? new BudgetDescriptor(rounded(budget.tokens()), budget.capacity()) : null;
		}

	}

	/**
	 * What shuts calls off while a quota is exhausted. While it does not, only
	 * {@code latched} is there.
	 *
	 * @param latched whether calls are shut off
	 * @param scope {@code ACCOUNT} if for all entries of the account, {@code PROVIDER} if
	 * for this one
	 * @param code the provider's code
	 * @param since when it was found exhausted
	 * @param resetAt when it comes back, as far as the provider said
	 * @param nextProbeAt when the next call is let out to see whether it is back
	 */
	public record QuotaDescriptor(boolean latched, @Nullable String scope, @Nullable String code,
			@Nullable Instant since, @Nullable Instant resetAt, @Nullable Instant nextProbeAt) {

		static QuotaDescriptor of(Provider provider) {
			QuotaLatch latch = provider.latched();
			QuotaSnapshot latched = (latch != null) ? latch.snapshot() : null;
			return (latched != null) ? new QuotaDescriptor(true,
					(latch == provider.accountQuota()) ? "ACCOUNT" : "PROVIDER", latched.code(),
					millis(latched.since()), millis(latched.resetAt()), millis(latched.nextProbeAt()))
					: new QuotaDescriptor(false, null, null, null, null, null);
		}

	}

	/**
	 * An annotated method.
	 *
	 * @param className the class that it runs on
	 * @param method its name and the types of its parameters
	 * @param source where its policy comes from
	 * @param idempotent whether its calls may run twice
	 * @param priority how urgent they are to those who wait for the same limiter
	 * @param policy how its calls are retried; absent where a recovery strategy decides
	 * @param recovery the strategy that alone decides about its failures; absent where
	 * the policy does
	 */
	public record MethodDescriptor(String className, String method, @Nullable SourceDescriptor source,
			boolean idempotent, @Nullable Priority priority, @Nullable PolicyDescriptor policy,
			@Nullable String recovery) {

		static MethodDescriptor of(ProtectedMethod method) {
			String parameters = Arrays.stream(method.method().getParameterTypes())
				.map(Class::getSimpleName)
				.collect(Collectors.joining(", ", "(", ")"));
			PolicySource source = method.source();
			boolean recovered = method.recovery() != null;
			return new MethodDescriptor(method.type().getName(), method.method().getName() + parameters,
					(source != null) ? new SourceDescriptor(source.placement(), source.type(), source.composed())
							: null,
					method.options().idempotent(), recovered ? null : method.options().priority(),
					recovered ? null : PolicyDescriptor.of(method), method.recovery());
		}

	}

	/**
	 * Where a method's policy comes from.
	 *
	 * @param placement on what the annotation stands
	 * @param type the class or interface that it stands on, or on a method of
	 * @param annotation the annotation that it is composed into; absent where it stands
	 * there itself
	 */
	public record SourceDescriptor(PolicySource.Placement placement, String type, @Nullable String annotation) {
	}

	/**
	 * Another layer that retries the same calls.
	 *
	 * @param kind what sort of layer it is
	 * @param name the property, bean or method that it was found at
	 * @param tries the most requests that it makes of one
	 * @param requests the most requests that one call can then become
	 */
	public record LayerDescriptor(String kind, String name, int tries, long requests) {
	}

}
