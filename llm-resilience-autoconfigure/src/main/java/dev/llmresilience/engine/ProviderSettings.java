package dev.llmresilience.engine;

import java.time.Duration;

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
 * @param policy how calls are retried
 * @param limiter how calls are paced
 * @param budget the shared retry budget, or {@code null} for none
 * @param breaker when calls are stopped, or {@code null} for never
 * @param quotaCoolDown the time between the first probes of an exhausted quota
 */
public record ProviderSettings(String name, ProviderType type, String account, RetryPolicy policy,
		LimiterSettings limiter, @Nullable BudgetSettings budget, @Nullable BreakerSettings breaker,
		Duration quotaCoolDown) {

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
		return new ProviderSettings(name, ProviderType.GENERIC, name, RetryPolicy.DEFAULTS, LimiterSettings.DEFAULTS,
				BudgetSettings.DEFAULTS, BreakerSettings.DEFAULTS, DEFAULT_QUOTA_COOL_DOWN);
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
