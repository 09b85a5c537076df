package dev.llmresilience.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import dev.llmresilience.autoconfigure.LlmResilienceProperties.Breaker;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Budget;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Limiter;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Quota;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Retry;
import dev.llmresilience.breaker.BreakerSettings;
import dev.llmresilience.engine.CallSettings;
import dev.llmresilience.engine.ProviderSettings;
import dev.llmresilience.engine.ProviderSettings.BudgetSettings;
import dev.llmresilience.failure.ProviderType;
import dev.llmresilience.policy.RetryPolicy;
import org.jspecify.annotations.Nullable;

/**
 * Makes complete settings of what is configured: each value comes from the entry, or else
 * from {@code default}, or else is built in.
 */
final class ProviderSettingsFactory {

	private final LlmResilienceProperties.ProviderEntry defaults;

	private final SharedLimiters sharedLimiters;

	private ProviderSettingsFactory(LlmResilienceProperties.ProviderEntry defaults, SharedLimiters sharedLimiters) {
		this.defaults = defaults;
		this.sharedLimiters = sharedLimiters;
	}

	/**
	 * Checks the configuration and fills it in.
	 * @param providers the entries
	 * @return the settings of all entries, {@code default} always among them
	 * @throws InvalidPropertyException if a value is not allowed
	 */
	static List<ProviderSettings> create(Map<String, LlmResilienceProperties.ProviderEntry> providers) {
		Map<String, LlmResilienceProperties.ProviderEntry> entries = new LinkedHashMap<>();
		entries.put(ProviderSettings.DEFAULT_NAME, LlmResilienceProperties.ProviderEntry.NOTHING);
		entries.putAll(providers);
		checkCollisions(entries);
		entries.forEach(PropertyChecks::check);
		Failovers.check(entries);
		LlmResilienceProperties.ProviderEntry defaults = entries.getOrDefault(ProviderSettings.DEFAULT_NAME,
				LlmResilienceProperties.ProviderEntry.NOTHING);
		ProviderSettingsFactory factory = new ProviderSettingsFactory(defaults, SharedLimiters.of(entries));
		List<ProviderSettings> settings = new ArrayList<>();
		entries.forEach((name, entry) -> settings.add(factory.settings(name, entry)));
		return settings;
	}

	/**
	 * The binder takes such names for one and gives both entries the values of either.
	 */
	private static void checkCollisions(Map<String, LlmResilienceProperties.ProviderEntry> entries) {
		Map<String, String> seen = new LinkedHashMap<>();
		for (String name : entries.keySet()) {
			String other = seen.put(ProviderNames.uniform(name), name);
			if (other != null) {
				throw InvalidPropertyException.ofProvider(name, "the provider names '" + other + "' and '" + name
						+ "' differ only in case, hyphens or underscores, and properties cannot tell them apart",
						"Rename one of them, or remove it if it was meant to be the other.");
			}
		}
	}

	private ProviderSettings settings(String name, LlmResilienceProperties.ProviderEntry entry) {
		ProviderType type = entry.type();
		if (type == null) {
			type = typeOf(name);
		}
		if (type == null) {
			type = this.defaults.type();
		}
		if (type == null) {
			type = ProviderType.GENERIC;
		}
		Source<Retry> retry = new Source<>(entry.retry(), this.defaults.retry(), Retry.NOTHING);
		String account = first(entry.account(), this.defaults.account(), name);
		return new ProviderSettings(name, type, account, hosts(type, entry.hosts()), policy(retry), calls(name, retry),
				LimiterSettingsFactory.create(name,
						new Source<>(entry.limiter(), this.defaults.limiter(), Limiter.NOTHING)),
				this.sharedLimiters.owner(name),
				budget(new Source<>(entry.budget(), this.defaults.budget(), Budget.NOTHING)),
				breaker(new Source<>(entry.breaker(), this.defaults.breaker(), Breaker.NOTHING)),
				new Source<>(entry.quota(), this.defaults.quota(), Quota.NOTHING).get(Quota::coolDown,
						ProviderSettings.DEFAULT_QUOTA_COOL_DOWN));
	}

	private static @Nullable ProviderType typeOf(String name) {
		ProviderType found = null;
		for (ProviderType type : ProviderType.values()) {
			String word = type.name().toLowerCase(Locale.ROOT).replace('_', '-');
			if (name.equals(word) || name.startsWith(word + "-")) {
				found = type;
			}
		}
		return found;
	}

	private static RetryPolicy policy(Source<Retry> source) {
		RetryPolicy built = RetryPolicy.DEFAULTS;
		return new RetryPolicy(source.get(Retry::maxAttempts, built.maxAttempts()),
				source.get(Retry::rateLimitRetries, built.rateLimitRetries()), source.find(Retry::rateLimitMaxElapsed),
				source.get(Retry::baseDelay, built.baseDelay()),
				source.get(Retry::rateLimitBaseDelay, built.rateLimitBaseDelay()),
				atLeast(source.get(Retry::baseDelay, built.baseDelay()), source.find(Retry::maxDelay),
						built.maxDelay()),
				source.get(Retry::multiplier, built.multiplier()), source.get(Retry::jitter, built.jitter()),
				source.get(Retry::jitterFactor, built.jitterFactor()),
				source.get(Retry::retryAfterSpread, built.retryAfterSpread()),
				source.get(Retry::maxRetryAfter, built.maxRetryAfter()), source.get(Retry::timeout, built.timeout()),
				source.get(Retry::attemptTimeout, built.attemptTimeout()),
				source.get(Retry::attemptTimeoutMultiplier, built.attemptTimeoutMultiplier()));
	}

	private CallSettings calls(String name, Source<Retry> source) {
		CallSettings built = CallSettings.DEFAULTS;
		return new CallSettings(source.get(Retry::attemptThread, built.attemptThread()),
				source.get(Retry::onOpen, built.onOpen()), source.find(Retry::idempotencyKeyHeader),
				source.find(Retry::firstElementTimeout), source.find(Retry::idleTimeout),
				Failovers.of(name, source.get(Retry::failover, built.failover())),
				source.get(Retry::failoverOn, built.failoverOn()),
				source.get(Retry::rateLimitEscalateAfter, built.rateLimitEscalateAfter()));
	}

	/**
	 * The entry's own, else those of default, else the type's; an empty list sets
	 * nothing.
	 */
	private List<String> hosts(ProviderType type, @Nullable List<String> own) {
		for (List<String> hosts : Arrays.asList(own, this.defaults.hosts())) {
			if (hosts != null && !hosts.isEmpty()) {
				return hosts.stream().map((host) -> host.toLowerCase(Locale.ROOT)).toList();
			}
		}
		return type.hosts();
	}

	private static @Nullable BudgetSettings budget(Source<Budget> source) {
		BudgetSettings built = BudgetSettings.DEFAULTS;
		if (!source.get(Budget::enabled, true)) {
			return null;
		}
		return new BudgetSettings(source.get(Budget::capacity, built.capacity()),
				source.get(Budget::refillPerSuccess, built.refillPerSuccess()),
				source.get(Budget::refillPerMinute, built.refillPerMinute()));
	}

	private static @Nullable BreakerSettings breaker(Source<Breaker> source) {
		BreakerSettings built = BreakerSettings.DEFAULTS;
		if (!source.get(Breaker::enabled, true)) {
			return null;
		}
		Duration open = source.get(Breaker::openDuration, built.openDuration());
		return new BreakerSettings(source.get(Breaker::failureThreshold, built.failureThreshold()),
				source.find(Breaker::failureRateThreshold), source.get(Breaker::windowSize, built.windowSize()),
				source.find(Breaker::slowCallDuration), open,
				atLeast(open, source.find(Breaker::maxOpenDuration), built.maxOpenDuration()),
				source.get(Breaker::trialTimeout, built.trialTimeout()));
	}

	/** A value that is built in must not cap the one that is configured. */
	private static Duration atLeast(Duration least, @Nullable Duration configured, Duration built) {
		return (configured != null) ? configured : (least.compareTo(built) > 0) ? least : built;
	}

	private static <T> T first(@Nullable T own, @Nullable T inherited, T built) {
		return (own != null) ? own : (inherited != null) ? inherited : built;
	}

}
