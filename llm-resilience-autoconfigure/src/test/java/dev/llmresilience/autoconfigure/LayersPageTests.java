package dev.llmresilience.autoconfigure;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Layers;
import dev.llmresilience.docs.Page;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds the page on layers against the code.
 */
@ExtendWith(OutputCaptureExtension.class)
class LayersPageTests {

	private static final Page PAGE = Page.of("layers.md");

	@Test
	void theLineIsAsThePageShowsIt(CapturedOutput output) {
		String line = PAGE.block("the line").strip();
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class,
					RetryLayersAutoConfiguration.class))
			.withPropertyValues("llm.resilience.providers.anthropic.retry.rate-limit-retries=0")
			.withBean("claude", AnthropicClient.class, () -> AnthropicOkHttpClient.builder().apiKey("test").build())
			.run((context) -> assertThat(RetryLayersTests.lines(output)).singleElement().asString().endsWith(line));
	}

	@Test
	void takeOverSetsWhatThePageSays() {
		Map<String, Object> set = new HashMap<>();
		rows("<!-- set by take-over -->\n").forEach((row) -> set.put(row.get(0), Integer.valueOf(row.get(2))));
		assertThat(set).isEqualTo(TakeOver.properties());
	}

	@Test
	void whatIsBuiltInIsWhatThePageSays() {
		assertThat(rows("<!-- set by take-over -->\n")).allSatisfy((row) -> {
			int expected = row.get(0).equals(SpringAiProperties.RETRY) ? SpringAiProperties.RETRY_DEFAULT
					: row.get(0).equals(SpringAiProperties.ANTHROPIC) ? SpringAiProperties.ANTHROPIC_DEFAULT
							: SpringAiProperties.OPENAI_DEFAULT;
			assertThat(row.get(1)).isEqualTo(String.valueOf(expected));
		});
	}

	@Test
	void theValuesOfThePropertyAreThoseOfThePage() {
		assertThat(rows("## What to do: `llm.resilience.layers`\n")).map((row) -> row.get(0))
			.containsExactlyElementsOf(Arrays.stream(Layers.values())
				.map((value) -> value.name().toLowerCase(Locale.ROOT).replace('_', '-'))
				.toList());
	}

	/** The rows of the first table after a line, without backquotes. */
	private static List<List<String>> rows(String after) {
		return PAGE.rowsFrom(after)
			.stream()
			.map((row) -> row.stream().map((cell) -> cell.replace("`", "")).toList())
			.toList();
	}

}
