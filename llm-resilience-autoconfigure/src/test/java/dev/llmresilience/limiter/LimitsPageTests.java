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
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.llmresilience.LlmRetry;
import dev.llmresilience.Priority;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.autoconfigure.LlmResilienceProperties;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.ProviderEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.ClassUtils;

import static java.nio.charset.StandardCharsets.UTF_8;
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

	private static final Path PAGE = Path.of("..", "docs", "limits.md");

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
		String page = Files.readString(PAGE);
		String measured = LimitsFigures.table();
		if (Boolean.getBoolean(REWRITE)) {
			Files.writeString(PAGE, FIGURES.matcher(page).replaceFirst((quoted) -> measured));
		}
		assertThat(FIGURES.matcher(Files.readString(PAGE)).results().map(MatchResult::group)).as(HOW)
			.containsExactly(measured);
	}

	static Stream<String> properties() throws IOException {
		return codeThatMatches("(llm\\.resilience\\.|limiter\\.|retry\\.)[a-z.-]+|[a-z]+(-[a-z]+)+");
	}

	@ParameterizedTest
	@MethodSource("properties")
	void aPropertyOnThePageExists(String property) {
		assertThat(known()).anyMatch((name) -> name.equals(property) || name.endsWith("." + property));
	}

	static Stream<String> names() throws IOException {
		return codeThatMatches("[A-Z][A-Za-z]*[a-z](\\.[A-Za-z]+)?");
	}

	@ParameterizedTest
	@MethodSource("names")
	void aNameOnThePageExists(String name) {
		String[] parts = name.split("\\.", -1);
		List<Class<?>> types = PACKAGES.stream()
			.map((home) -> home + "." + parts[0])
			.filter((type) -> ClassUtils.isPresent(type, null))
			.<Class<?>>map((type) -> ClassUtils.resolveClassName(type, null))
			.toList();
		assertThat(types).isNotEmpty();
		if (parts.length > 1) {
			assertThat(types).flatMap((type) -> Arrays.asList(type.getMethods()))
				.map(Method::getName)
				.contains(parts[1]);
		}
	}

	static Stream<String> constants() throws IOException {
		return codeThatMatches("[A-Z_]{2,}");
	}

	@ParameterizedTest
	@MethodSource("constants")
	void aPriorityOnThePageExists(String constant) {
		assertThat(Priority.values()).extracting(Enum::name).contains(constant);
	}

	@Test
	void theModesAreThoseOfThePage() throws IOException {
		assertThat(Files.readString(PAGE).lines().filter((line) -> line.matches("\\| `[a-z]+` \\|.*")))
			.map((line) -> line.substring(3, line.indexOf('`', 3)).toUpperCase(Locale.ROOT))
			.containsExactlyElementsOf(Arrays.stream(LimiterMode.values()).map(Enum::name).toList());
	}

	static Stream<String> attributes() throws IOException {
		return codeThatMatches("@LlmRetry\\([a-z]+ = .*\\)");
	}

	@ParameterizedTest
	@MethodSource("attributes")
	void anAttributeOnThePageExists(String annotation) {
		String attribute = annotation.substring("@LlmRetry(".length(), annotation.indexOf(" = "));
		assertThat(LlmRetry.class.getDeclaredMethods()).extracting(Method::getName).contains(attribute);
	}

	static Stream<String> configurations() throws IOException {
		return blocks("yaml");
	}

	@ParameterizedTest
	@MethodSource("configurations")
	void anApplicationStartsWithAConfigurationOfThePage(String yaml) throws IOException {
		List<PropertySource<?>> sources = new YamlPropertySourceLoader().load("page",
				new ByteArrayResource(yaml.getBytes(UTF_8)));
		assertThat(sources).flatMap((source) -> List.of(((EnumerablePropertySource<?>) source).getPropertyNames()))
			.filteredOn((name) -> name.startsWith(PREFIX))
			.isNotEmpty()
			.map((name) -> name.replaceFirst("^llm\\.resilience\\.providers\\.[a-z-]+\\.", ""))
			.isSubsetOf(known());
		new ApplicationContextRunner()
			.withInitializer((context) -> sources.forEach(context.getEnvironment().getPropertySources()::addLast))
			.withConfiguration(AutoConfigurations.of(LlmResilienceAutoConfiguration.class))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	static Stream<String> examples() throws IOException {
		return blocks("java");
	}

	@ParameterizedTest
	@MethodSource("examples")
	void anExampleOfThePageCompiles(String example) throws IOException {
		assertThat(withoutIndents(Files.readString(EXAMPLES))).contains(withoutIndents(example));
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
