package dev.llmresilience.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Layers;
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

	@Test
	void theLineIsAsThePageShowsIt(CapturedOutput output) throws IOException {
		List<String> page = page();
		String line = page.get(page.indexOf("<!-- the line -->") + 2);
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class,
					RetryLayersAutoConfiguration.class))
			.withPropertyValues("llm.resilience.providers.anthropic.retry.rate-limit-retries=0")
			.withBean("claude", AnthropicClient.class, () -> AnthropicOkHttpClient.builder().apiKey("test").build())
			.run((context) -> assertThat(RetryLayersTests.lines(output)).singleElement().asString().endsWith(line));
	}

	@Test
	void takeOverSetsWhatThePageSays() throws IOException {
		Map<String, Object> set = new HashMap<>();
		rows("<!-- set by take-over -->").forEach((row) -> set.put(row.get(0), Integer.valueOf(row.get(2))));
		assertThat(set).isEqualTo(TakeOver.properties());
	}

	@Test
	void whatIsBuiltInIsWhatThePageSays() throws IOException {
		assertThat(rows("<!-- set by take-over -->")).allSatisfy((row) -> {
			int expected = row.get(0).equals(SpringAiProperties.RETRY) ? SpringAiProperties.RETRY_DEFAULT
					: row.get(0).equals(SpringAiProperties.ANTHROPIC) ? SpringAiProperties.ANTHROPIC_DEFAULT
							: SpringAiProperties.OPENAI_DEFAULT;
			assertThat(row.get(1)).isEqualTo(String.valueOf(expected));
		});
	}

	@Test
	void theValuesOfThePropertyAreThoseOfThePage() throws IOException {
		assertThat(rows("## What to do: `llm.resilience.layers`")).map((row) -> row.get(0))
			.containsExactlyElementsOf(Arrays.stream(Layers.values())
				.map((value) -> value.name().toLowerCase(Locale.ROOT).replace('_', '-'))
				.toList());
	}

	/** The rows of the first table after a line, without its head. */
	private static List<List<String>> rows(String after) throws IOException {
		List<String> page = page();
		return page.subList(page.indexOf(after) + 1, page.size())
			.stream()
			.dropWhile((line) -> !line.startsWith("|"))
			.takeWhile((line) -> line.startsWith("|"))
			.skip(2)
			.map((line) -> Arrays.stream(line.substring(1).split("\\|", -1))
				.map((cell) -> cell.strip().replace("`", ""))
				.toList())
			.toList();
	}

	private static List<String> page() throws IOException {
		return Files.readAllLines(Path.of("../docs/layers.md"));
	}

}
