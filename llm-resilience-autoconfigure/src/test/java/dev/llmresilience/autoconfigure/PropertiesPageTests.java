package dev.llmresilience.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.llmresilience.autoconfigure.LlmResilienceProperties.ProviderEntry;
import dev.llmresilience.docs.Page;
import dev.llmresilience.engine.Providers;
import dev.llmresilience.limiter.RateLimiter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page on properties: its tables are made of the configuration metadata, and of what
 * the start says about values that are not allowed.
 */
@ExtendWith(OutputCaptureExtension.class)
class PropertiesPageTests {

	/** Set to {@code true}, the tables are written and not compared. */
	private static final String REWRITE = "properties.page.rewrite";

	private static final String HOW = "A property has changed. Look at what is new after rewriting the page with "
			+ "mvn -pl llm-resilience-autoconfigure test -Dtest=PropertiesPageTests -D" + REWRITE + "=true";

	private static final Path PAGE = Path.of("../docs/properties.md");

	private static final Path METADATA = Path.of("target/classes/META-INF/spring-configuration-metadata.json");

	private static final Pattern TABLE = Pattern.compile("(?<=<!-- (values|table) (\\S{1,80}) -->\n\n).*?(?=\n\n)",
			Pattern.DOTALL);

	private static final String PREFIX = "llm.resilience.";

	private static final String DEFAULT = PREFIX + "providers.default.";

	private static final JsonNode metadata = metadata();

	@Test
	void theTablesAreThoseOfTheMetadata() throws IOException {
		String page = Files.readString(PAGE);
		String rewritten = TABLE.matcher(page).replaceAll((found) -> Matcher.quoteReplacement(table(found)));
		if (Boolean.getBoolean(REWRITE)) {
			Files.writeString(PAGE, rewritten);
		}
		assertThat(Files.readString(PAGE)).as(HOW).isEqualTo(rewritten);
	}

	@Test
	void everyPropertyIsInOneTable() throws IOException {
		Set<String> expected = properties().map((property) -> property.path("name").asString())
			.filter((name) -> !name.equals(PREFIX + "providers"))
			.collect(Collectors.toSet());
		assertThat(expected).hasSizeGreaterThan(50);
		assertThat(groups().stream().flatMap((group) -> names(group).stream()).toList())
			.containsExactlyInAnyOrderElementsOf(expected);
	}

	@Test
	void everyWordThatAPropertyMayBeIsExplained() throws IOException {
		List<String> explained = TABLE.matcher(Files.readString(PAGE))
			.results()
			.filter((found) -> found.group(1).equals("values"))
			.map((found) -> PREFIX + found.group(2))
			.toList();
		assertThat(metadata.path("hints").valueStream().map((hint) -> hint.path("name").asString()))
			.filteredOn((name) -> !name.endsWith(".keys"))
			.containsExactlyInAnyOrderElementsOf(explained);
	}

	static List<String> configurations() {
		return Page.of("properties.md").blocks("yaml");
	}

	@ParameterizedTest
	@MethodSource("configurations")
	void anApplicationStartsWithAConfigurationOfThePage(String yaml, CapturedOutput output) {
		try (ConfigurableApplicationContext context = new Starts().withYaml(yaml).run()) {
			assertThat(context.getBean(Providers.class).all()).hasSizeGreaterThan(1);
			assertThat(output).doesNotContain("Unknown property");
		}
	}

	@Test
	void anEntryInheritsAsThePageSays() {
		try (ConfigurableApplicationContext context = new Starts().withYaml(configurations().get(0)).run()) {
			Providers providers = context.getBean(Providers.class);
			assertThat(providers.get("anthropic").settings().policy().maxAttempts()).isEqualTo(3);
			assertThat(providers.get("anthropic-batch").settings().policy().maxAttempts()).isEqualTo(6);
			assertThat(providers.get("anthropic-batch").settings().type())
				.isSameAs(providers.get("anthropic").settings().type());
			assertThat(context.getBean("anthropicRateLimiter", RateLimiter.class).requestsPerMinute()).isEqualTo(600);
		}
	}

	/** The groups of the page in the order of its tables. */
	private static List<String> groups() throws IOException {
		return TABLE.matcher(Files.readString(PAGE))
			.results()
			.filter((found) -> found.group(1).equals("table"))
			.map((found) -> found.group(2))
			.toList();
	}

	private static String table(MatchResult found) {
		return found.group(1).equals("values") ? values(found.group(2)) : table(found.group(2));
	}

	private static String table(String group) {
		List<String> rows = new ArrayList<>(
				List.of("| property | values | default | what it is |", "|---|---|---|---|"));
		for (String name : names(group)) {
			JsonNode property = properties().filter((candidate) -> candidate.path("name").asString().equals(name))
				.findFirst()
				.orElseThrow();
			rows.add("| `%s` | %s | %s | %s |".formatted(name.replace(DEFAULT, "").replace(PREFIX, ""), type(property),
					standard(property), property.path("description").asString()));
		}
		return String.join("\n", rows);
	}

	private static String values(String property) {
		List<String> rows = new ArrayList<>(List.of("| value | what it means |", "|---|---|"));
		metadata.path("hints")
			.valueStream()
			.filter((hint) -> hint.path("name").asString().equals(PREFIX + property))
			.flatMap((hint) -> hint.path("values").valueStream())
			.forEach((value) -> rows.add("| `%s` | %s |".formatted(value.path("value").asString(),
					value.path("description").asString().replaceAll("\\.$", ""))));
		return String.join("\n", rows);
	}

	/**
	 * Properties of a group in the order in which the records declare them.
	 */
	private static List<String> names(String group) {
		Map<String, List<String>> names = new LinkedHashMap<>();
		collect(LlmResilienceProperties.class, PREFIX, "top", names);
		collect(ProviderEntry.class, DEFAULT, "entry", names);
		return names.getOrDefault(group, List.of());
	}

	private static void collect(Class<?> type, String prefix, String group, Map<String, List<String>> names) {
		for (RecordComponent component : type.getRecordComponents()) {
			String name = DataObjectPropertyName.toDashedForm(component.getName());
			if (component.getType().isRecord()) {
				collect(component.getType(), prefix + name + ".", group.equals("top") ? group : name, names);
			}
			else if (component.getType() != Map.class) {
				names.computeIfAbsent(group, (key) -> new ArrayList<>()).add(prefix + name);
			}
		}
	}

	private static Stream<JsonNode> properties() {
		return metadata.path("properties")
			.valueStream()
			.filter((property) -> property.path("name").asString().startsWith(PREFIX));
	}

	private static String standard(JsonNode property) {
		JsonNode value = property.path("defaultValue");
		if (value.isMissingNode()) {
			return "–";
		}
		if (value.isArray()) {
			return value.valueStream().map((item) -> "`" + item.asString() + "`").collect(Collectors.joining(", "));
		}
		return "`" + value.asString() + "`";
	}

	private static String type(JsonNode property) {
		String name = property.path("name").asString();
		String type = property.path("type").asString();
		return switch (type) {
			case "java.lang.Boolean" -> "`true`, `false`";
			case "java.lang.Integer", "java.lang.Long" -> "whole number" + allowed(name, "-7");
			case "java.lang.Double" -> "number" + allowed(name, "-7");
			case "java.time.Duration" -> "duration" + allowed(name, "-7s");
			case "java.lang.String" -> "text";
			case "java.util.List<java.lang.String>" -> "list of texts";
			default -> (type.startsWith("java.util.Set") ? "list of words" : "word") + ", see below";
		};
	}

	/** What the start says about a value that is not allowed. */
	private static String allowed(String name, String value) {
		try {
			LlmResilienceProperties bound = new Binder(new MapConfigurationPropertySource(Map.of(name, value)))
				.bindOrCreate("llm.resilience", Bindable.of(LlmResilienceProperties.class));
			PropertyChecks.check(bound);
			ProviderSettingsFactory.create(bound.providers());
			return "";
		}
		catch (InvalidPropertyException ex) {
			return ", " + ex.reason()
				.replaceFirst("^must be (a number |a percentage |a duration )?", "")
				.replaceFirst("(?<=above zero|of zero or more),.*|, decimals allowed$", "")
				.replace("of zero or more", "zero or more");
		}
	}

	private static JsonNode metadata() {
		try (InputStream in = Files.newInputStream(METADATA)) {
			return JsonMapper.shared().readTree(in);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static Set<String> named() throws IOException {
		Set<String> named = new Page(TABLE.matcher(Files.readString(PAGE)).replaceAll(""))
			.code("(?:[a-z]+\\.)?[a-z]+(?:-[a-z]+)+")
			.collect(Collectors.toCollection(LinkedHashSet::new));
		configurations().forEach((yaml) -> named.removeIf((name) -> yaml.contains(name + ":\n")));
		return named;
	}

	@ParameterizedTest
	@MethodSource("named")
	void aPropertyOrValueThatTheTextNamesExists(String name) {
		List<String> known = new ArrayList<>(
				metadata.findValues("name").stream().map((node) -> node.asString().replace(DEFAULT, "")).toList());
		metadata.findValues("value").forEach((value) -> known.add(value.asString()));
		assertThat(known).anyMatch((candidate) -> candidate.equals(name) || candidate.endsWith("." + name));
	}

}
