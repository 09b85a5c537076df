package dev.llmresilience.engine;

import java.time.Duration;
import java.util.List;
import java.util.Locale;

import dev.llmresilience.breaker.BreakerSettings;
import dev.llmresilience.failure.ProviderType;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.policy.RetryPolicy;
import org.jspecify.annotations.Nullable;

/**
 * Everything that a provider entry is configured with, inherited values filled in.
 * Immutable.
 *
 * @param name the name of the entry
 * @param type whose rules judge its failures
 * @param account who pays: entries of one account share a money latch
 * @param hosts whose response headers count, in lower case; empty for all
 * @param policy how calls are retried
 * @param calls how they are made besides
 * @param limiter how calls are paced
 * @param limiterSharedWith the entry whose limiter this one uses, which has to have one
 * of its own; or {@code null} for one of its own
 * @param budget the shared retry budget, or {@code null} for none
 * @param breaker when calls are stopped, or {@code null} for never
 * @param quotaCoolDown the time between the first probes of an exhausted quota
 */
public record ProviderSettings(String name, ProviderType type, String account, List<String> hosts, RetryPolicy policy,
		CallSettings calls, LimiterSettings limiter, @Nullable String limiterSharedWith,
		@Nullable BudgetSettings budget, @Nullable BreakerSettings breaker, Duration quotaCoolDown) {

	/** The entry that all others inherit from. */
	public static final String DEFAULT_NAME = "default";

	/** The built-in time between the first probes. */
	public static final Duration DEFAULT_QUOTA_COOL_DOWN = Duration.ofMinutes(5);

	/**
	 * The built-in values for an entry of the given name.
	 * @param name the name
	 * @return the settings
	 */
	public static ProviderSettings defaults(String name) {
		return new ProviderSettings(name, ProviderType.GENERIC, name, List.of(), RetryPolicy.DEFAULTS,
				CallSettings.DEFAULTS, LimiterSettings.DEFAULTS, null, BudgetSettings.DEFAULTS,
				BreakerSettings.DEFAULTS, DEFAULT_QUOTA_COOL_DOWN);
	}

	boolean isHost(String host) {
		return this.hosts.isEmpty() || this.hosts.contains(host.toLowerCase(Locale.ROOT));
	}

	/**
	 * The shared retry budget of an entry.
	 *
	 * @param capacity the most retries that can be saved up, at least 1
	 * @param refillPerSuccess what a success gives back, in retries
	 * @param refillPerMinute what comes back on its own, in retries a minute
	 */
	public record BudgetSettings(double capacity, double refillPerSuccess, double refillPerMinute) {

		/** The built-in values. */
		public static final BudgetSettings DEFAULTS = new BudgetSettings(50, 0.1, 1);

	}

}
