package dev.llmresilience.actuate;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

import dev.llmresilience.breaker.BreakerSnapshot;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.breaker.QuotaLatch;
import dev.llmresilience.breaker.QuotaSnapshot;
import dev.llmresilience.engine.Provider;
import dev.llmresilience.engine.Providers;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * Shows with the health of the application which providers cannot be called. The
 * application itself is up all the same: somebody else's outage is no reason to take it
 * out of rotation. Thread-safe.
 */
public class LlmBreakersHealthIndicator implements HealthIndicator {

	private final Providers providers;

	/**
	 * Creates the indicator.
	 * @param providers the provider entries
	 */
	public LlmBreakersHealthIndicator(Providers providers) {
		this.providers = providers;
	}

	@Override
	public Health health() {
		Map<String, Object> details = new TreeMap<>();
		for (Provider provider : this.providers.all()) {
			if (LlmProvidersEndpoint.isShown(provider)) {
				details.put(provider.name(), details(provider));
			}
		}
		return Health.up().withDetails(details).build();
	}

	private static Map<String, Object> details(Provider provider) {
		Map<String, Object> details = new LinkedHashMap<>();
		CircuitBreaker breaker = provider.breaker();
		if (breaker != null) {
			BreakerSnapshot snapshot = breaker.snapshot();
			details.put("state", snapshot.state());
			put(details, "openedAt", snapshot.openedAt());
			put(details, "nextTrialAt", snapshot.nextTrialAt());
		}
		QuotaLatch latch = provider.latched();
		QuotaSnapshot latched = (latch != null) ? latch.snapshot() : null;
		details.put("quotaExhausted", latched != null);
		if (latched != null) {
			put(details, "quotaExhaustedSince", latched.since());
			put(details, "nextProbeAt", latched.nextProbeAt());
		}
		return details;
	}

	private static void put(Map<String, Object> details, String name, @Nullable Instant at) {
		if (at != null) {
			details.put(name, at.truncatedTo(ChronoUnit.MILLIS));
		}
	}

}
