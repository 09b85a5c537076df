package dev.llmresilience.autoconfigure;

import java.util.List;

import dev.llmresilience.FailureKind;
import dev.llmresilience.engine.CallSettings;
import dev.llmresilience.engine.Providers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Which entries take over from which, as properties say it.
 */
class FailoverPropertiesTests {

	private static final String ENTRIES = """
			llm.resilience.providers:
			  anthropic:
			  openai:
			""";

	@Test
	void nobodyTakesOverUnlessConfigured() {
		assertThat(calls("anthropic").failover()).isEmpty();
	}

	@Test
	void thoseWhoTakeOverAreKeptInOrder() {
		assertThat(calls("anthropic", "anthropic.retry.failover", "openai,default").failover())
			.containsExactly("openai", "default");
	}

	@Test
	void whatIsInheritedLeavesOutTheEntryItself() {
		String property = "default.retry.failover";
		assertThat(calls("anthropic", property, "openai").failover()).containsExactly("openai");
		assertThat(calls("openai", property, "openai").failover()).isEmpty();
	}

	@Test
	void theKindsInSectionFiveFailOverUnlessConfigured() {
		assertThat(calls("anthropic").failoverOn()).containsExactlyInAnyOrder(FailureKind.RATE_LIMITED,
				FailureKind.OVERLOADED, FailureKind.SERVER_ERROR, FailureKind.TIMEOUT, FailureKind.CONNECTION,
				FailureKind.QUOTA_EXHAUSTED);
	}

	@ParameterizedTest
	@CsvSource({ "failover, anthropic, there are [default, openai]", "failover, mistral, there are [default, openai]",
			"failover, 'openai,openai', each once", "failover-on, cancelled, another provider cannot help with",
			"failover-on, application, allowed are [RATE_LIMITED",
			"failover-on, conflict, another provider cannot help with" })
	void whatCannotWorkStopsTheStart(String property, String value, String says) {
		assertThatThrownBy(() -> calls("anthropic", "anthropic.retry." + property, value))
			.hasStackTraceContaining("llm.resilience.providers.anthropic.retry." + property)
			.hasStackTraceContaining(says);
	}

	private static CallSettings calls(String name, String... properties) {
		Starts starts = new Starts().withYaml(ENTRIES);
		for (int i = 0; i < properties.length; i += 2) {
			starts.with("llm.resilience.providers." + properties[i], properties[i + 1]);
		}
		try (ConfigurableApplicationContext context = starts.run()) {
			List<String> names = List.copyOf(context.getBean(Providers.class).names());
			assertThat(names).contains(name);
			return context.getBean(Providers.class).get(name).settings().calls();
		}
	}

}
