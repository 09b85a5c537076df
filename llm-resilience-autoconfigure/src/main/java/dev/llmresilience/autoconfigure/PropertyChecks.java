package dev.llmresilience.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

import dev.llmresilience.autoconfigure.LlmResilienceProperties.Breaker;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Budget;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Limiter;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.ProviderEntry;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Quota;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Retry;
import org.jspecify.annotations.Nullable;

/**
 * Says what each property may be. A value that may not stops the start.
 */
final class PropertyChecks {

	private static final String PREFIX = "llm.resilience.";

	private static final String ACTION = "Set a value that is allowed, or leave the property out to inherit it.";

	private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*");

	private static final Pattern HOST = Pattern
		.compile("[a-z0-9]([a-z0-9_-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9_-]*[a-z0-9])?)*");

	private static final Pattern HEADER = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");

	private static final Pattern AROUND_HOST = Pattern.compile("^([a-z][a-z0-9+.-]*://)?([^/@]*@)?|:\\d*(?=/|$)|/.*$");

	private final String prefix;

	private PropertyChecks(String prefix) {
		this.prefix = prefix;
	}

	/**
	 * Checks what is outside of the entries.
	 * @param properties all properties
	 * @throws InvalidPropertyException if a value is not allowed
	 */
	static void check(LlmResilienceProperties properties) {
		new PropertyChecks(PREFIX).atLeast("max-keys", properties.maxKeys(), 1);
	}

	/**
	 * Checks what an entry sets itself.
	 * @param name the name of the entry
	 * @param provider the entry
	 * @throws InvalidPropertyException if the name or a value is not allowed
	 */
	static void check(String name, ProviderEntry provider) {
		if (!NAME.matcher(name).matches()) {
			throw InvalidPropertyException.ofProvider(name,
					"'" + name + "' is not a provider name: a name is a short kebab-case word of the letters a to z, "
							+ "digits and single hyphens, and begins with a letter",
					"Rename the entry, for example to '" + suggestion(name)
							+ "'. The name of the model belongs where the model is configured.");
		}
		String prefix = PREFIX + "providers." + name + ".";
		String account = provider.account();
		new PropertyChecks(prefix).that("account", account, account == null || !account.isBlank(), "must not be blank");
		new PropertyChecks(prefix).hosts(provider.hosts());
		new PropertyChecks(prefix + "retry.").retry(provider.retry());
		new PropertyChecks(prefix + "budget.").budget(provider.budget());
		new PropertyChecks(prefix + "limiter.").limiter(provider.limiter());
		new PropertyChecks(prefix + "breaker.").breaker(provider.breaker());
		new PropertyChecks(prefix + "quota.").quota(provider.quota());
	}

	static String suggestion(String name) {
		String plain = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^[-0-9]+|-$", "");
		return plain.isEmpty() ? "my-model" : plain;
	}

	private void hosts(@Nullable List<String> hosts) {
		for (int i = 0; hosts != null && i < hosts.size(); i++) {
			String host = hosts.get(i);
			String lower = host.toLowerCase(Locale.ROOT);
			if (!HOST.matcher(lower).matches()) {
				String plain = AROUND_HOST.matcher(lower).replaceAll("");
				// What is before an @ may be a password.
				throw new InvalidPropertyException(this.prefix + "hosts[" + i + "]",
						hosts.toString().contains("@") ? null : host,
						"must be the plain name of a host, without scheme, port or path",
						HOST.matcher(plain).matches() ? "Write '" + plain + "'." : ACTION);
			}
		}
	}

	private void retry(@Nullable Retry retry) {
		if (retry == null) {
			return;
		}
		atLeast("max-attempts", retry.maxAttempts(), 1);
		atLeast("rate-limit-retries", retry.rateLimitRetries(), 0);
		positive("rate-limit-max-elapsed", retry.rateLimitMaxElapsed());
		positive("base-delay", retry.baseDelay());
		positive("rate-limit-base-delay", retry.rateLimitBaseDelay());
		positive("max-delay", retry.maxDelay());
		atLeast("multiplier", retry.multiplier(), 1);
		between("jitter-factor", retry.jitterFactor(), 0, 1);
		notNegative("retry-after-spread", retry.retryAfterSpread());
		notNegative("max-retry-after", retry.maxRetryAfter());
		positive("timeout", retry.timeout());
		positive("attempt-timeout", retry.attemptTimeout());
		atLeast("attempt-timeout-multiplier", retry.attemptTimeoutMultiplier(), 1);
		positive("first-element-timeout", retry.firstElementTimeout());
		positive("idle-timeout", retry.idleTimeout());
		String header = retry.idempotencyKeyHeader();
		that("idempotency-key-header", header, header == null || HEADER.matcher(header).matches(),
				"must be the name of a header, such as Idempotency-Key");
		atLeast("rate-limit-escalate-after", retry.rateLimitEscalateAfter(), 1);
	}

	private void budget(@Nullable Budget budget) {
		if (budget == null) {
			return;
		}
		atLeast("capacity", budget.capacity(), 1);
		atLeast("refill-per-success", budget.refillPerSuccess(), 0);
		atLeast("refill-per-minute", budget.refillPerMinute(), 0);
	}

	private void limiter(@Nullable Limiter limiter) {
		if (limiter == null) {
			return;
		}
		rate("requests-per-minute", limiter.requestsPerMinute());
		atLeast("burst", limiter.burst(), 1);
		Double share = limiter.share();
		that("share", share, share == null || (share > 0 && share <= 1), "must be above 0 and at most 1");
		String level = limiter.initialLevel();
		that("initial-level", level, level == null || LimiterSettingsFactory.isLevel(level),
				LimiterSettingsFactory.LEVELS);
		rate("tokens-per-minute", limiter.tokensPerMinute());
		rate("input-tokens-per-minute", limiter.inputTokensPerMinute());
		rate("output-tokens-per-minute", limiter.outputTokensPerMinute());
		atLeast("default-tokens", limiter.defaultTokens(), 1);
		atLeast("max-concurrent-calls", limiter.maxConcurrentCalls(), 1);
		notNegative("max-wait", limiter.maxWait());
		atLeast("max-waiting", limiter.maxWaiting(), 0);
		notNegative("network-margin", limiter.networkMargin());
	}

	private void breaker(@Nullable Breaker breaker) {
		if (breaker == null) {
			return;
		}
		atLeast("failure-threshold", breaker.failureThreshold(), 1);
		Double rate = breaker.failureRateThreshold();
		that("failure-rate-threshold", rate, rate == null || (rate > 0 && rate <= 100),
				"must be a percentage above 0 and up to 100");
		atLeast("window-size", breaker.windowSize(), 1);
		positive("slow-call-duration", breaker.slowCallDuration());
		positive("open-duration", breaker.openDuration());
		positive("max-open-duration", breaker.maxOpenDuration());
		positive("trial-timeout", breaker.trialTimeout());
	}

	private void quota(@Nullable Quota quota) {
		if (quota != null) {
			positive("cool-down", quota.coolDown());
		}
	}

	private void rate(String property, @Nullable Double value) {
		that(property, value, value == null || (value > 0 && Double.isFinite(value)),
				"must be a number above 0, decimals allowed");
	}

	private void atLeast(String property, @Nullable Number value, int least) {
		that(property, value, value == null || (value.doubleValue() >= least && Double.isFinite(value.doubleValue())),
				"must be at least " + least);
	}

	private void between(String property, @Nullable Double value, int least, int most) {
		that(property, value, value == null || (value >= least && value <= most),
				"must be from " + least + " to " + most);
	}

	private void positive(String property, @Nullable Duration value) {
		that(property, value, value == null || (!value.isNegative() && !value.isZero() && fits(value)),
				"must be a duration above zero, such as 500ms, 30s or 5m, and at most 100 years");
	}

	private void notNegative(String property, @Nullable Duration value) {
		that(property, value, value == null || (!value.isNegative() && fits(value)),
				"must be a duration of zero or more, such as 0s, 500ms or 30s, and at most 100 years");
	}

	/** Durations are counted in nanoseconds, which a long holds for 292 years. */
	private static boolean fits(Duration value) {
		return value.compareTo(Duration.ofDays(36_500)) <= 0;
	}

	private void that(String property, @Nullable Object value, boolean allowed, String reason) {
		if (!allowed) {
			throw new InvalidPropertyException(this.prefix + property, value, reason, ACTION);
		}
	}

}
