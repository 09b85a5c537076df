package dev.llmresilience.autoconfigure;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider;
import org.springframework.core.type.filter.AnnotationTypeFilter;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an editor and Spring Boot read about this library.
 */
class MetadataTests {

	private static final String IMPORTS = "META-INF/spring/org.springframework.boot.autoconfigure.AutoConfiguration.imports";

	@TestFactory
	Stream<DynamicTest> everyPropertyIsDescribed() {
		return properties().stream().map((property) -> DynamicTest.dynamicTest(property.path("name").asString(), () -> {
			assertThat(property.path("description").asString("")).as("description")
				.isNotBlank()
				.doesNotContain("{@")
				.doesNotContain("<");
			assertThat(property.path("type").asString("")).as("type").isNotBlank();
		}));
	}

	@TestFactory
	Stream<DynamicTest> everyPropertyOfTheRecordsIsInTheMetadata() {
		List<String> names = properties().stream().map((property) -> property.path("name").asString()).toList();
		List<String> expected = new ArrayList<>();
		collect(LlmResilienceProperties.class, "llm.resilience.", expected);
		collect(LlmResilienceProperties.ProviderEntry.class, "llm.resilience.providers.default.", expected);
		return expected.stream().map((name) -> DynamicTest.dynamicTest(name, () -> assertThat(names).contains(name)));
	}

	@TestFactory
	Stream<DynamicTest> everyComponentOfTheRecordsIsDocumentedInTheSource() throws IOException {
		Path source = Path.of("src/main/java/dev/llmresilience/autoconfigure/LlmResilienceProperties.java");
		String text = Files.readString(source);
		return Stream
			.concat(Stream.of(LlmResilienceProperties.class),
					Stream.of(LlmResilienceProperties.class.getDeclaredClasses()))
			.filter(Class::isRecord)
			.map((type) -> DynamicTest.dynamicTest(type.getSimpleName(), () -> {
				Matcher record = Pattern
					.compile("/\\*\\*(?:(?!\\*/).)*\\*/(?:(?!\\*/).)*?record " + type.getSimpleName() + "\\(",
							Pattern.DOTALL)
					.matcher(text);
				assertThat(record.find()).isTrue();
				for (RecordComponent component : type.getRecordComponents()) {
					assertThat(record.group()).containsPattern("@param " + component.getName() + " \\w+");
				}
			}));
	}

	@Test
	void theWordsThatATextMayBeAreOffered() {
		assertThat(metadata().path("hints")).anySatisfy((hint) -> {
			assertThat(hint.path("name").asString())
				.isEqualTo("llm.resilience.providers.default.limiter.initial-level");
			assertThat(hint.path("values")).extracting((value) -> value.path("value").asString())
				.containsExactly("full", "empty");
		});
	}

	@TestFactory
	Stream<DynamicTest> everyHintIsForAPropertyThatExists() {
		List<String> names = properties().stream().map((property) -> property.path("name").asString()).toList();
		return metadata().path("hints")
			.valueStream()
			.map((hint) -> hint.path("name").asString())
			.map((name) -> DynamicTest.dynamicTest(name, () -> assertThat(names).contains(name)));
	}

	@Test
	void theImportsAreAllAutoConfigurationsSorted() {
		ClassPathScanningCandidateComponentProvider scanner = new ClassPathScanningCandidateComponentProvider(false);
		scanner.addIncludeFilter(new AnnotationTypeFilter(AutoConfiguration.class));
		List<String> declared = new ArrayList<>(new TreeSet<>(scanner.findCandidateComponents("dev.llmresilience")
			.stream()
			.map((definition) -> Objects.requireNonNull(definition.getBeanClassName()))
			.toList()));
		assertThat(lines(IMPORTS)).isNotEmpty().containsExactlyElementsOf(declared);
	}

	@Test
	void theFailureAnalyzersAreThereAndSorted() {
		List<String> factories = lines("META-INF/spring.factories");
		List<String> analyzers = factories
			.subList(factories.indexOf("org.springframework.boot.diagnostics.FailureAnalyzer=\\") + 1, factories.size())
			.stream()
			.map((line) -> line.replace(",\\", ""))
			.toList();
		assertThat(analyzers).isSorted().hasSize(3).allSatisfy((name) -> assertThat(Class.forName(name)).isNotNull());
	}

	private static void collect(Class<?> type, String prefix, List<String> names) {
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

	private static List<JsonNode> properties() {
		List<JsonNode> properties = new ArrayList<>();
		metadata().path("properties").forEach((property) -> {
			if (property.path("name").asString().startsWith("llm.resilience")) {
				properties.add(property);
			}
		});
		return properties;
	}

	private static JsonNode metadata() {
		try (InputStream in = open("META-INF/spring-configuration-metadata.json")) {
			return JsonMapper.shared().readTree(in);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static List<String> lines(String resource) {
		try (BufferedReader reader = new BufferedReader(new InputStreamReader(open(resource), UTF_8))) {
			return reader.lines().map(String::strip).filter((line) -> !line.isEmpty()).toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** The library's own, not that of another one on the class path. */
	private static InputStream open(String resource) throws IOException {
		return Files.newInputStream(Path.of("target/classes").resolve(resource));
	}

}
