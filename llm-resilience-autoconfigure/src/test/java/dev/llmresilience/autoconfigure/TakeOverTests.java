package dev.llmresilience.autoconfigure;

import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.model.anthropic.autoconfigure.AnthropicChatAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code llm.resilience.layers=take-over}: what it sets, and when.
 */
@ExtendWith(OutputCaptureExtension.class)
class TakeOverTests {

	@ParameterizedTest
	@ValueSource(strings = { "take-over", "TAKE_OVER", "takeOver", "takeover" })
	void theRetriesOfSpringAiAreNoneHoweverItIsSpelt(String spelling) {
		try (ConfigurableApplicationContext context = new Starts().with("llm.resilience.layers", spelling).run()) {
			assertThat(retries(context.getEnvironment())).hasSize(9).allSatisfy((property, retries) -> {
				assertThat(property).startsWith("spring.ai.");
				assertThat(retries).as(property).isEqualTo("0");
			});
		}
	}

	@Test
	void anEnvironmentVariableWillDo() {
		try (ConfigurableApplicationContext context = new Starts().withVariable("LLM_RESILIENCE_LAYERS", "take-over")
			.run()) {
			assertThat(retries(context.getEnvironment())).hasSize(9);
		}
	}

	@Test
	void aFileWillDo() {
		try (ConfigurableApplicationContext context = new Starts().withYaml("llm.resilience.layers: take-over").run()) {
			assertThat(retries(context.getEnvironment())).hasSize(9);
		}
	}

	@Test
	void whatIsSetElsewhereIsOverruled() {
		try (ConfigurableApplicationContext context = new Starts().with("llm.resilience.layers", "take-over")
			.with("spring.ai.openai.chat.max-retries", 5)
			.withVariable("SPRING_AI_RETRY_MAXATTEMPTS", "7")
			.run()) {
			assertThat(retries(context.getEnvironment())).containsEntry("spring.ai.openai.chat.max-retries", "0")
				.containsEntry("spring.ai.retry.max-attempts", "0");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "llm.resilience.layers=warn", "llm.resilience.layers=ignore",
			"llm.resilience.enabled=false", "llm.resilience.enabled=off" })
	void otherwiseNothingIsSet(String property) {
		String[] parts = property.split("=", 2);
		Starts starts = new Starts();
		if (parts[0].endsWith("enabled")) {
			starts.with("llm.resilience.layers", "take-over");
		}
		try (ConfigurableApplicationContext context = starts.with(parts[0], parts[1]).run()) {
			assertThat(retries(context.getEnvironment())).isEmpty();
		}
	}

	/**
	 * Spring AI 2.0 was built for an older SDK and cannot call this one, but the client
	 * that it makes is there.
	 */
	@Test
	void theClientBelowSpringAisAnthropicModelRetriesNothing(CapturedOutput output) {
		try (ConfigurableApplicationContext context = new Starts().with(SpringAiAnthropic.class)
			.with("llm.resilience.layers", "take-over")
			.with("spring.ai.model.chat", "anthropic")
			.with("spring.ai.anthropic.api-key", "test")
			.run()) {
			assertThat(context.getBean(AnthropicChatModel.class).getAnthropicClient().options().maxRetries()).isZero();
			assertThat(RetryLayersTests.lines(output)).isEmpty();
		}
	}

	@Test
	void aWordThatIsNotAllowedStopsTheStart(CapturedOutput output) {
		new Starts().with("llm.resilience.layers", "off").fail();
		assertThat(output).contains("Property: llm.resilience.layers", "one of [warn, take-over, ignore]");
	}

	private static Map<String, String> retries(Environment environment) {
		Map<String, String> retries = new TreeMap<>();
		TakeOver.properties().keySet().forEach((property) -> {
			String value = environment.getProperty(property);
			if (value != null) {
				retries.put(property, value);
			}
		});
		return retries;
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ RetryLayersAutoConfiguration.class, AnthropicChatAutoConfiguration.class,
			ToolCallingAutoConfiguration.class })
	static class SpringAiAnthropic {

	}

}
