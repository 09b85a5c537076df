package dev.llmresilience.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Whatever configuration of this library a page shows, an application starts with it, and
 * knows all of it.
 */
@ExtendWith(OutputCaptureExtension.class)
class ConfigurationsOfPagesTests {

	static List<Arguments> configurations() throws IOException {
		List<Arguments> configurations = new ArrayList<>();
		try (Stream<Path> pages = Files.list(Path.of("../docs"))) {
			for (Path page : Stream.concat(pages, Stream.of(Path.of("../README.md"))).sorted().toList()) {
				if (page.toString().endsWith(".md")) {
					new Page(Files.readString(page)).blocks("yaml")
						.forEach((yaml) -> configurations.add(arguments(page.getFileName().toString(), yaml)));
				}
			}
		}
		return configurations;
	}

	@ParameterizedTest(name = "{0} {index}")
	@MethodSource("configurations")
	void anApplicationStartsWithItAndKnowsAllOfIt(String page, String yaml, CapturedOutput output) {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(LlmResilienceAutoConfiguration.class))
			.withPropertyValues("anthropic.key=key", "openai.key=key")
			.withInitializer(
					(context) -> Page.properties(yaml).forEach(context.getEnvironment().getPropertySources()::addFirst))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).doesNotContain("WARN");
			});
	}

}
