package dev.llmresilience.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.langchain4j.agent.tool.Tool;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.engine.Providers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.ClassUtils;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds the page on tools against the code: its names and its examples.
 */
class ToolsPageTests {

	private static final Path PAGE = Path.of("..", "docs", "tools.md");

	private static final Path EXAMPLES = Path.of("src", "test", "java", "dev", "llmresilience", "tools");

	private static final List<String> PACKAGES = List.of("java.lang", "dev.llmresilience", "dev.llmresilience.http",
			"dev.llmresilience.tools", "org.springframework.ai.chat.client", "org.springframework.ai.model.tool",
			"org.springframework.ai.tool.annotation", "org.springframework.web.client",
			"org.springframework.web.reactive.function.client", "dev.langchain4j.service",
			"dev.langchain4j.service.tool", "dev.langchain4j.agent.tool");

	static Stream<String> names() throws IOException {
		return codeThatMatches("@?[A-Z][A-Za-z0-9]*[a-z]([.][A-Za-z]+([(].*[)])?)?");
	}

	@ParameterizedTest
	@MethodSource("names")
	void aNameOnThePageExists(String name) {
		String[] parts = name.replaceAll("^@|[(].*", "").split("[.]", -1);
		List<Class<?>> types = PACKAGES.stream()
			.map((home) -> home + "." + parts[0])
			.filter((type) -> ClassUtils.isPresent(type, null))
			.<Class<?>>map((type) -> ClassUtils.resolveClassName(type, null))
			.toList();
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

	static Stream<String> reasons() throws IOException {
		return codeThatMatches("[A-Z_]{2,}");
	}

	@ParameterizedTest
	@MethodSource("reasons")
	void aReasonOnThePageExists(String reason) {
		assertThat(GiveUpReason.values()).extracting(Enum::name).contains(reason);
	}

	static Stream<String> attributes() throws IOException {
		return codeThatMatches("(recovery|maxAttempts|idempotent)( = .*)?");
	}

	@ParameterizedTest
	@MethodSource("attributes")
	void anAttributeOnThePageExists(String attribute) {
		assertThat(LlmRetry.class.getDeclaredMethods()).extracting((method) -> method.getName())
			.contains(attribute.replaceAll(" = .*", ""));
	}

	static Stream<String> configurations() throws IOException {
		return blocks("yaml");
	}

	@ParameterizedTest
	@MethodSource("configurations")
	void aConfigurationOfThePageSetsTheHeader(String yaml) throws IOException {
		List<PropertySource<?>> sources = new YamlPropertySourceLoader().load("page",
				new ByteArrayResource(yaml.getBytes(UTF_8)));
		new ApplicationContextRunner()
			.withInitializer((context) -> sources.forEach(context.getEnvironment().getPropertySources()::addLast))
			.withConfiguration(AutoConfigurations.of(LlmResilienceAutoConfiguration.class))
			.run((context) -> assertThat(
					context.getBean(Providers.class).get("anthropic").settings().calls().idempotencyKeyHeader())
				.isEqualTo("Idempotency-Key"));
	}

	static Stream<String> examples() throws IOException {
		return blocks("java");
	}

	@ParameterizedTest
	@MethodSource("examples")
	void anExampleOfThePageCompiles(String example) throws IOException {
		String code = Files.readString(EXAMPLES.resolve("ToolsPageExamples.java"))
				+ Files.readString(EXAMPLES.resolve("LangChain4jPageExamples.java"));
		assertThat(withoutIndents(code)).contains(withoutIndents(example));
	}

	@Test
	void theHintOfThePageIsTheOneThatIsRead() throws IOException {
		assertThat(Files.readString(PAGE)).contains("`readOnlyHint`");
		assertThat(Arrays.stream(LangChain4jPageExamples.class.getDeclaredMethods())
			.map((method) -> method.getAnnotation(Tool.class).metadata())).containsExactly("{\"readOnlyHint\": true}");
	}

	private static String withoutIndents(String code) {
		return code.lines().map(String::strip).filter((line) -> !line.isEmpty()).collect(Collectors.joining("\n"));
	}

	private static Stream<String> blocks(String language) throws IOException {
		return found("```" + language + "\n(.*?)```", Files.readString(PAGE));
	}

	/** What the page sets in code within a sentence. */
	private static Stream<String> codeThatMatches(String regex) throws IOException {
		String sentences = Files.readString(PAGE).replaceAll("(?s)```.*?```", "");
		return found("`([^`\n]+)`", sentences).filter((code) -> code.matches(regex)).distinct();
	}

	private static Stream<String> found(String regex, String text) {
		List<String> found = Pattern.compile(regex, Pattern.DOTALL)
			.matcher(text)
			.results()
			.map((match) -> match.group(1))
			.toList();
		assertThat(found).isNotEmpty();
		return found.stream();
	}

}
