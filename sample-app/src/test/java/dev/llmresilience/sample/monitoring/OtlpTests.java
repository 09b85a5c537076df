package dev.llmresilience.sample.monitoring;

import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import dev.llmresilience.LlmResilience;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.registry.otlp.OtlpConfig;
import io.micrometer.registry.otlp.OtlpMeterRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.test.annotation.DirtiesContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The meters must be in every registry that the application has, that of OTLP too.
 */
@SpringBootTest(properties = { "spring.ai.anthropic.api-key=embedded", "spring.ai.openai.api-key=embedded" })
@DirtiesContext
class OtlpTests {

	@Autowired
	private LlmResilience resilience;

	@Autowired
	private OtlpMeterRegistry registry;

	@Test
	void the_meters_are_in_the_registry_of_otlp() throws Exception {
		assertThat(this.resilience.call("anthropic", () -> "hello")).isEqualTo("hello");
		assertThat(this.registry.get("llm.calls").tags("provider", "anthropic", "outcome", "SUCCESS").timer().count())
			.isOne();
		Set<String> names = this.registry.getMeters()
			.stream()
			.map((meter) -> meter.getId().getName())
			.filter((name) -> name.startsWith("llm."))
			.collect(Collectors.toCollection(TreeSet::new));
		assertThat(names).containsExactly("llm.attempts", "llm.breaker.rejected", "llm.breaker.state",
				"llm.budget.tokens", "llm.calls", "llm.deduplicated", "llm.limiter.rate", "llm.limiter.wait",
				"llm.limiter.waiting", "llm.quota.latched", "llm.retry.tokens");
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class Registry {

		/** Publishes nothing. */
		@Bean
		MeterRegistry otlpMeterRegistry() {
			OtlpConfig silent = new OtlpConfig() {

				@Override
				public @Nullable String get(String key) {
					return key.endsWith(".enabled") ? "false" : null;
				}

			};
			return new OtlpMeterRegistry(silent, Clock.SYSTEM);
		}

	}

}
