package dev.llmresilience.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import dev.langchain4j.agent.tool.Tool;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.docs.Page;
import dev.llmresilience.engine.Providers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds the page on tools against the code: its names and its examples.
 */
class ToolsPageTests {

	private static final Page PAGE = Page.of("tools.md");

	private static final Path EXAMPLES = Path.of("src", "test", "java", "dev", "llmresilience", "tools");

	private static final List<String> PACKAGES = List.of("java.lang", "dev.llmresilience", "dev.llmresilience.http",
			"dev.llmresilience.tools", "org.springframework.ai.chat.client", "org.springframework.ai.model.tool",
			"org.springframework.ai.tool.annotation", "org.springframework.web.client",
			"org.springframework.web.reactive.function.client", "dev.langchain4j.service",
			"dev.langchain4j.service.tool", "dev.langchain4j.agent.tool");

	static Stream<String> names() {
		return PAGE.code("@?[A-Z][A-Za-z0-9]*[a-z]([.][A-Za-z]+([(].*[)])?)?");
	}

	@ParameterizedTest
	@MethodSource("names")
	void aNameOnThePageExists(String name) {
		String[] parts = name.replaceAll("^@|[(].*", "").split("[.]", -1);
		List<Class<?>> types = Page.types(parts[0], PACKAGES);
		assertThat(types).isNotEmpty();
		if (parts.length > 1) {
			assertThat(types).flatMap((type) -> members(type)).contains(parts[1]);
		}
	}

	private static List<String> members(Class<?> type) {
		return Stream
			.concat(Arrays.stream(type.getMethods()).map((method) -> method.getName()),
					Arrays.stream(type.getClasses()).map(Class::getSimpleName))
			.toList();
	}

	static Stream<String> reasons() {
		return PAGE.code("[A-Z_]{2,}");
	}

	@ParameterizedTest
	@MethodSource("reasons")
	void aReasonOnThePageExists(String reason) {
		assertThat(GiveUpReason.values()).extracting(Enum::name).contains(reason);
	}

	static Stream<String> attributes() {
		return PAGE.code("(recovery|maxAttempts|idempotent)( = .*)?");
	}

	@ParameterizedTest
	@MethodSource("attributes")
	void anAttributeOnThePageExists(String attribute) {
		assertThat(LlmRetry.class.getDeclaredMethods()).extracting((method) -> method.getName())
			.contains(attribute.replaceAll(" = .*", ""));
	}

	static Stream<String> configurations() {
		return PAGE.blocks("yaml").stream();
	}

	@ParameterizedTest
	@MethodSource("configurations")
	void aConfigurationOfThePageSetsTheHeader(String yaml) {
		new ApplicationContextRunner().withInitializer(Page.configuration(yaml))
			.withConfiguration(AutoConfigurations.of(LlmResilienceAutoConfiguration.class))
			.run((context) -> assertThat(
					context.getBean(Providers.class).get("anthropic").settings().calls().idempotencyKeyHeader())
				.isEqualTo("Idempotency-Key"));
	}

	static Stream<String> examples() {
		return PAGE.blocks("java").stream();
	}

	@ParameterizedTest
	@MethodSource("examples")
	void anExampleOfThePageCompiles(String example) throws IOException {
		String code = Files.readString(EXAMPLES.resolve("ToolsPageExamples.java"))
				+ Files.readString(EXAMPLES.resolve("LangChain4jPageExamples.java"));
		assertThat(Page.withoutIndents(code)).contains(Page.withoutIndents(example));
	}

	@Test
	void theHintOfThePageIsTheOneThatIsRead() {
		assertThat(PAGE.text()).contains("`readOnlyHint`");
		assertThat(Arrays.stream(LangChain4jPageExamples.class.getDeclaredMethods())
			.map((method) -> method.getAnnotation(Tool.class).metadata())).containsExactly("{\"readOnlyHint\": true}");
	}

}
