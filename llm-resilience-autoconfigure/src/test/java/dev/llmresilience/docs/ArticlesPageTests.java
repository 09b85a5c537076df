package dev.llmresilience.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * The page on articles: the defaults and tests that it names.
 */
class ArticlesPageTests {

	private static final Page PAGE = Page.of("articles.md");

	private static final Path TESTS = Path.of("src/test/java/dev/llmresilience/engine");

	static List<List<String>> defaults() {
		return PAGE.rows("defaults");
	}

	@ParameterizedTest
	@MethodSource("defaults")
	void aDefaultIsThatOfThePage(List<String> row) throws IOException {
		assertThat(properties()).containsEntry(row.get(0).replace("`", ""), row.get(1));
	}

	static Stream<String> properties(String regex) {
		return PAGE.code(regex);
	}

	static Stream<String> named() {
		return properties("([a-z]+\\.)?[a-z]+(-[a-z]+)+");
	}

	@ParameterizedTest
	@MethodSource("named")
	void aPropertyOnThePageExists(String name) throws IOException {
		assertThat(properties().keySet()).anyMatch((known) -> known.equals(name) || known.endsWith("." + name));
	}

	static Stream<String> tests() {
		return PAGE.code("[A-Za-z]+Tests\\.[A-Za-z0-9]+");
	}

	@ParameterizedTest
	@MethodSource("tests")
	void aTestOnThePageExists(String test) throws IOException {
		String[] parts = test.split("\\.", -1);
		assertThat(Files.readString(TESTS.resolve(parts[0] + ".java"))).contains("void " + parts[1] + "(");
	}

	@Test
	void theOddsOfFailuresInARowAreThoseOfThePage() {
		assertThat(attemptsUntilInARow(0.3, 5)).isCloseTo(600, within(30.0));
		assertThat(attemptsUntilInARow(0.3, 10)).isCloseTo(240_000, within(5_000.0));
	}

	private static double attemptsUntilInARow(double chance, int failures) {
		double all = Math.pow(chance, failures);
		return (1 - all) / ((1 - chance) * all);
	}

	private static Map<String, String> properties() throws IOException {
		Map<String, String> properties = new HashMap<>();
		JsonMapper.shared()
			.readTree(Files.readString(Path.of("target/classes/META-INF/spring-configuration-metadata.json")))
			.path("properties")
			.forEach((property) -> properties.put(
					property.path("name").asString().replace("llm.resilience.providers.default.", ""),
					property.path("defaultValue").asString("")));
		return properties;
	}

}
