package dev.llmresilience.actuate;

import java.util.Map;

import dev.llmresilience.autoconfigure.LlmBreakersHealthAutoConfiguration;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.http.HttpHeaders;
import org.springframework.web.client.RestClientResponseException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The health contributor as a monitor meets it: over HTTP.
 */
class LlmBreakersHealthTests {

	private static final String DETAILS = "$.components.llmBreakers.details";

	@Nested
	@SpringBootTest(classes = StoppedApplication.class, webEnvironment = WebEnvironment.RANDOM_PORT, properties = {
			"management.endpoint.health.show-details=always", "llm.resilience.providers.anthropic.retry.max-attempts=1",
			"llm.resilience.providers.openai.type=openai", "llm.resilience.providers.openai.breaker.enabled=false" })
	class Health extends CallsAndHttp {

		@BeforeEach
		void reset() {
			this.providers.breaker("anthropic").close();
			this.providers.clearLatches("openai");
		}

		@Test
		void showsThatAllIsWell() {
			assertThat(json("/actuator/health").<Map<String, Object>>read(DETAILS)).isEqualTo(Map.of("anthropic",
					Map.of("state", "CLOSED", "quotaExhausted", false), "openai", Map.of("quotaExhausted", false)));
		}

		@Test
		void anOpenBreakerShowsAndTheApplicationStaysUp() {
			for (int i = 0; i < 10; i++) {
				fail("anthropic", 529, "");
			}
			assertThat(get("/actuator/health").status()).isEqualTo(200);
			assertThat(json("/actuator/health").<String>read("$.status")).isEqualTo("UP");
			assertThat(json("/actuator/health").<String>read("$.components.llmBreakers.status")).isEqualTo("UP");
			assertThat(json("/actuator/health").<Map<String, Object>>read(DETAILS + ".anthropic"))
				.isEqualTo(Map.of("state", "OPEN", "openedAt", "2026-10-01T00:00:00Z", "nextTrialAt",
						"2026-10-01T00:00:31.400Z", "quotaExhausted", false));
		}

		@Test
		void aLatchShowsAndTheApplicationStaysUp() {
			fail("openai", 429, "{\"error\":{\"message\":\"secret\",\"code\":\"insufficient_quota\"}}");
			assertThat(json("/actuator/health").<String>read("$.status")).isEqualTo("UP");
			assertThat(json("/actuator/health").<Map<String, Object>>read(DETAILS + ".openai"))
				.isEqualTo(Map.of("quotaExhausted", true, "quotaExhaustedSince", "2026-10-01T00:00:00Z", "nextProbeAt",
						"2026-10-01T00:05:00Z"));
			assertThat(get("/actuator/health").body()).doesNotContain("secret");
		}

		@Test
		void hasAPathOfItsOwn() {
			assertThat(get("/actuator/health/llmBreakers").status()).isEqualTo(200);
		}

		private void fail(String provider, int status, String body) {
			assertThat(failure(provider, status, body, new HttpHeaders()))
				.isInstanceOf(RestClientResponseException.class);
		}

	}

	@Nested
	@SpringBootTest(classes = StoppedApplication.class, webEnvironment = WebEnvironment.RANDOM_PORT, properties = {
			"management.endpoint.health.show-details=always", "management.health.llmbreakers.enabled=false" })
	class SwitchedOff extends OverHttp {

		@Test
		void isNotThere() {
			assertThat(json("/actuator/health").<Map<String, Object>>read("$.components"))
				.doesNotContainKey("llmBreakers");
		}

	}

	@ParameterizedTest
	@ValueSource(strings = { "management.health.llmbreakers.enabled=false", "management.health.defaults.enabled=false",
			"llm.resilience.enabled=false" })
	void canBeSwitchedOff(String property) {
		runner().withPropertyValues(property)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LlmBreakersHealthIndicator.class));
	}

	@Test
	void oneThatTheApplicationHasItselfWins() {
		runner().withBean("llmBreakersHealthIndicator", String.class, () -> "mine")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LlmBreakersHealthIndicator.class));
	}

	@Test
	void anEntryThatOnlyOthersInheritFromIsNotShown() {
		runner().run((context) -> assertThat(context.getBean(LlmBreakersHealthIndicator.class).health().getDetails())
			.isEmpty());
	}

	private static ApplicationContextRunner runner() {
		return new ApplicationContextRunner().withConfiguration(
				AutoConfigurations.of(LlmResilienceAutoConfiguration.class, LlmBreakersHealthAutoConfiguration.class));
	}

}
