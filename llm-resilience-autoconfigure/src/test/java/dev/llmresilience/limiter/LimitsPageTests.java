package dev.llmresilience.limiter;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import dev.llmresilience.LlmRetry;
import dev.llmresilience.Priority;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.autoconfigure.LlmResilienceProperties;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.ProviderEntry;
import dev.llmresilience.docs.Page;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds the page on limits against the code: its plot, its figures, its names and its
 * examples.
 */
class LimitsPageTests {

	/** Set to {@code true}, plot and figures are written and not compared. */
	private static final String REWRITE = "limits.page.rewrite";

	private static final String HOW = "The limiter has changed. Look at what is new after rewriting it with "
			+ "mvn -pl llm-resilience-autoconfigure test -Dtest=LimitsPageTests -D" + REWRITE + "=true";

	private static final Page PAGE = Page.of("limits.md");

	private static final Path FILE = Path.of("..", "docs", "limits.md");

	private static final Path PLOT = Path.of("..", "docs", "limits.svg");

	private static final Path EXAMPLES = Path.of("src", "test", "java", "dev", "llmresilience", "limiter",
			"LimitsPageExamples.java");

	private static final String PREFIX = "llm.resilience.";

	private static final String PROVIDERS = PREFIX + "providers.";

	private static final Pattern FIGURES = Pattern.compile("(?<=<!-- figures -->\n\n).*?(?=\n\n<!-- end -->)",
			Pattern.DOTALL);

	private static final List<String> PACKAGES = List.of("java.lang", "dev.llmresilience", "dev.llmresilience.limiter",
			"org.springframework.ai.chat.model", "java.util.concurrent", "org.springframework.core.task");

	@Test
	void thePlotIsWhatTheSimulationDraws() throws IOException {
		String drawn = LimitsPlot.draw();
		assertThat(drawn.length()).isLessThan(60_000);
		if (Boolean.getBoolean(REWRITE)) {
			Files.writeString(PLOT, drawn);
		}
		assertThat(Files.readString(PLOT)).as(HOW).isEqualTo(drawn);
	}

	@Test
	void theFiguresAreThoseOfTheSimulations() throws IOException {
		String measured = LimitsFigures.table();
		if (Boolean.getBoolean(REWRITE)) {
			Files.writeString(FILE, FIGURES.matcher(PAGE.text()).replaceFirst((quoted) -> measured));
		}
		assertThat(FIGURES.matcher(Files.readString(FILE)).results().map(MatchResult::group)).as(HOW)
			.containsExactly(measured);
	}

	static Stream<String> properties() {
		return PAGE.code("(llm\\.resilience\\.|limiter\\.|retry\\.)[a-z.-]+|[a-z]+(-[a-z]+)+");
	}

	@ParameterizedTest
	@MethodSource("properties")
	void aPropertyOnThePageExists(String property) {
		assertThat(known()).anyMatch((name) -> name.equals(property) || name.endsWith("." + property));
	}

	static Stream<String> names() {
		return PAGE.code("[A-Z][A-Za-z]*[a-z](\\.[A-Za-z]+)?");
	}

	@ParameterizedTest
	@MethodSource("names")
	void aNameOnThePageExists(String name) {
		String[] parts = name.split("\\.", -1);
		List<Class<?>> types = Page.types(parts[0], PACKAGES);
		assertThat(types).isNotEmpty();
		if (parts.length > 1) {
			assertThat(types).flatMap((type) -> Arrays.asList(type.getMethods()))
				.map(Method::getName)
				.contains(parts[1]);
		}
	}

	static Stream<String> constants() {
		return PAGE.code("[A-Z_]{2,}");
	}

	@ParameterizedTest
	@MethodSource("constants")
	void aPriorityOnThePageExists(String constant) {
		assertThat(Priority.values()).extracting(Enum::name).contains(constant);
	}

	@Test
	void theModesAreThoseOfThePage() {
		assertThat(PAGE.text().lines().filter((line) -> line.matches("\\| `[a-z]+` \\|.*")))
			.map((line) -> line.substring(3, line.indexOf('`', 3)).toUpperCase(Locale.ROOT))
			.containsExactlyElementsOf(Arrays.stream(LimiterMode.values()).map(Enum::name).toList());
	}

	static Stream<String> attributes() {
		return PAGE.code("@LlmRetry\\([a-z]+ = .*\\)");
	}

	@ParameterizedTest
	@MethodSource("attributes")
	void anAttributeOnThePageExists(String annotation) {
		String attribute = annotation.substring("@LlmRetry(".length(), annotation.indexOf(" = "));
		assertThat(LlmRetry.class.getDeclaredMethods()).extracting(Method::getName).contains(attribute);
	}

	static Stream<String> configurations() {
		return PAGE.blocks("yaml").stream();
	}

	@ParameterizedTest
	@MethodSource("configurations")
	void anApplicationStartsWithAConfigurationOfThePage(String yaml) {
		assertThat(Page.names(yaml)).filteredOn((name) -> name.startsWith(PREFIX))
			.isNotEmpty()
			.map((name) -> name.replaceFirst("^llm\\.resilience\\.providers\\.[a-z-]+\\.", ""))
			.isSubsetOf(known());
		new ApplicationContextRunner().withInitializer(Page.configuration(yaml))
			.withConfiguration(AutoConfigurations.of(LlmResilienceAutoConfiguration.class))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	static Stream<String> examples() {
		return PAGE.blocks("java").stream();
	}

	@ParameterizedTest
	@MethodSource("examples")
	void anExampleOfThePageCompiles(String example) throws IOException {
		assertThat(Page.withoutIndents(Files.readString(EXAMPLES))).contains(Page.withoutIndents(example));
	}

	/** Properties as the page may write them: of an entry, or from the prefix on. */
	private static Set<String> known() {
		Set<String> known = new TreeSet<>();
		collect(LlmResilienceProperties.class, PREFIX, known);
		collect(ProviderEntry.class, "", known);
		collect(ProviderEntry.class, PROVIDERS + "anthropic.", known);
		return known;
	}

	private static void collect(Class<?> type, String prefix, Set<String> names) {
		for (RecordComponent component : type.getRecordComponents()) {
			String name = prefix + DataObjectPropertyName.toDashedForm(component.getName());
			if (component.getType().isRecord()) {
				collect(component.getType(), name + ".", names);
			}
			else {
				names.add(name);
			}
		}
	}

}
