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
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.llmresilience.FailureKind;
import dev.llmresilience.engine.CallSettings;
import dev.llmresilience.failure.ProviderType;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.policy.Jitter;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.core.type.classreading.SimpleMetadataReaderFactory;
import org.springframework.util.ClassUtils;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * What an editor and Spring Boot read about this library.
 */
class MetadataTests {

	private static final String PREFIX = "llm.resilience.";

	private static final String DEFAULT = PREFIX + "providers.default.";

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

	/** Section 12 of the design, as far as it is built. */
	@ParameterizedTest
	@ValueSource(strings = { "enabled", "strict", "layers", "aspect.order", "max-keys", "web.problem-details",
			"providers", "providers.default.type", "providers.default.account", "providers.default.hosts",
			"providers.default.retry.max-attempts", "providers.default.retry.rate-limit-retries",
			"providers.default.retry.rate-limit-escalate-after", "providers.default.retry.rate-limit-max-elapsed",
			"providers.default.retry.base-delay", "providers.default.retry.rate-limit-base-delay",
			"providers.default.retry.max-delay", "providers.default.retry.multiplier", "providers.default.retry.jitter",
			"providers.default.retry.jitter-factor", "providers.default.retry.retry-after-spread",
			"providers.default.retry.max-retry-after", "providers.default.retry.timeout",
			"providers.default.retry.attempt-timeout", "providers.default.retry.attempt-timeout-multiplier",
			"providers.default.retry.attempt-thread", "providers.default.retry.first-element-timeout",
			"providers.default.retry.idle-timeout", "providers.default.retry.on-open",
			"providers.default.retry.idempotency-key-header", "providers.default.retry.failover",
			"providers.default.retry.failover-on", "providers.default.budget.enabled",
			"providers.default.budget.capacity", "providers.default.budget.refill-per-success",
			"providers.default.budget.refill-per-minute", "providers.default.limiter.mode",
			"providers.default.limiter.requests-per-minute", "providers.default.limiter.burst",
			"providers.default.limiter.share", "providers.default.limiter.initial-level",
			"providers.default.limiter.tokens-per-minute", "providers.default.limiter.input-tokens-per-minute",
			"providers.default.limiter.output-tokens-per-minute", "providers.default.limiter.default-tokens",
			"providers.default.limiter.max-concurrent-calls", "providers.default.limiter.max-wait",
			"providers.default.limiter.max-waiting", "providers.default.limiter.network-margin",
			"providers.default.limiter.shared-with", "providers.default.breaker.enabled",
			"providers.default.breaker.failure-threshold", "providers.default.breaker.failure-rate-threshold",
			"providers.default.breaker.window-size", "providers.default.breaker.slow-call-duration",
			"providers.default.breaker.open-duration", "providers.default.breaker.max-open-duration",
			"providers.default.breaker.trial-timeout", "providers.default.quota.cool-down" })
	void everyPropertyOfTheDesignIsDescribed(String name) {
		assertThat(properties()).filteredOn((property) -> property.path("name").asString().equals(PREFIX + name))
			.singleElement()
			.satisfies((property) -> assertThat(property.path("description").asString()).isNotBlank());
	}

	@Test
	void theDefaultsAreThoseThatAreBuiltIn() {
		Map<String, Object> defaults = new HashMap<>();
		for (JsonNode property : properties()) {
			JsonNode value = property.path("defaultValue");
			String name = property.path("name").asString();
			if (name.startsWith(DEFAULT) && value.isArray()) {
				defaults.put(name, value.valueStream().map(JsonNode::asString).collect(Collectors.joining(",")));
			}
			else if (name.startsWith(DEFAULT) && !value.isMissingNode()) {
				defaults.put(name, value.asString());
			}
		}
		Map<String, LlmResilienceProperties.ProviderEntry> bound = new Binder(
				new MapConfigurationPropertySource(defaults))
			.bind(PREFIX + "providers", Bindable.mapOf(String.class, LlmResilienceProperties.ProviderEntry.class))
			.get();
		assertThat(ProviderSettingsFactory.create(bound)).isEqualTo(ProviderSettingsFactory.create(Map.of()));
		assertThat(defaults).hasSize(33);
	}

	private static Stream<Arguments> enumerations() {
		return Stream.of(arguments("layers", LlmResilienceProperties.Layers.class),
				arguments("mode", LlmResilienceProperties.Mode.class),
				arguments("providers.default.type", ProviderType.class),
				arguments("providers.default.limiter.mode", LimiterMode.class),
				arguments("providers.default.retry.jitter", Jitter.class),
				arguments("providers.default.retry.attempt-thread", CallSettings.AttemptThread.class),
				arguments("providers.default.retry.on-open", CallSettings.OnOpen.class));
	}

	@ParameterizedTest
	@MethodSource("enumerations")
	void theValuesOfAnEnumerationAreOfferedAndNoOthers(String property, Class<? extends Enum<?>> type) {
		assertThat(offered(property)).containsExactlyElementsOf(words(Arrays.asList(type.getEnumConstants())));
	}

	@Test
	void everyEnumerationIsOffered() {
		assertThat(properties()).filteredOn((property) -> isEnumeration(property.path("type").asString()))
			.extracting((property) -> property.path("name").asString().substring(PREFIX.length()))
			.containsExactlyInAnyOrderElementsOf(enumerations().map((row) -> (String) row.get()[0]).toList());
	}

	private static boolean isEnumeration(String type) {
		return ClassUtils.isPresent(type, null) && ClassUtils.resolveClassName(type, null).isEnum();
	}

	@Test
	void theKindsThatMayFailOverAreOfferedAndNoOthers() {
		assertThat(offered("providers.default.retry.failover-on")).containsExactlyElementsOf(
				words(Stream.of(FailureKind.values()).filter(MetadataTests::mayFailOver).toList()));
	}

	private static boolean mayFailOver(FailureKind kind) {
		Map<String, Object> properties = Map.of(DEFAULT + "retry.failover-on", kind);
		try {
			ProviderSettingsFactory.create(new Binder(new MapConfigurationPropertySource(properties))
				.bind(PREFIX + "providers", Bindable.mapOf(String.class, LlmResilienceProperties.ProviderEntry.class))
				.get());
			return true;
		}
		catch (InvalidPropertyException ex) {
			return false;
		}
	}

	@Test
	void theWordsThatATextMayBeAreOffered() {
		assertThat(offered("providers.default.limiter.initial-level")).containsExactly("full", "empty");
	}

	@Test
	void namesThatStandForATypeAreOfferedForEntriesAndDefault() {
		List<String> names = new ArrayList<>(words(List.of(ProviderType.values())));
		names.remove("generic");
		names.add("default");
		assertThat(offered("providers.keys")).containsExactlyElementsOf(names);
	}

	@TestFactory
	Stream<DynamicTest> everyHintIsForAPropertyThatExistsAndSaysWhatItMeans() {
		List<String> names = properties().stream().map((property) -> property.path("name").asString()).toList();
		return metadata().path("hints")
			.valueStream()
			.map((hint) -> DynamicTest.dynamicTest(hint.path("name").asString(), () -> {
				assertThat(names).contains(hint.path("name").asString().replace(".providers.keys", ".providers"));
				assertThat(hint.path("values")).allSatisfy(
						(value) -> assertThat(value.path("description").asString("")).isNotBlank().endsWith("."));
			}));
	}

	@Test
	void theHealthContributorsSwitchIsDescribed() {
		assertThat(metadata().path("properties"))
			.filteredOn((property) -> property.path("name").asString().equals("management.health.llmbreakers.enabled"))
			.singleElement()
			.satisfies((property) -> {
				assertThat(property.path("defaultValue").asBoolean()).isTrue();
				assertThat(property.path("description").asString()).startsWith("Whether");
			});
	}

	private static List<String> offered(String property) {
		return metadata().path("hints")
			.valueStream()
			.filter((hint) -> hint.path("name").asString().equals(PREFIX + property))
			.flatMap((hint) -> hint.path("values").valueStream())
			.map((value) -> value.path("value").asString())
			.toList();
	}

	private static List<String> words(List<? extends Enum<?>> constants) {
		return constants.stream()
			.map((constant) -> constant.name().toLowerCase(Locale.ROOT).replace('_', '-'))
			.toList();
	}

	/** Whatever their conditions are. */
	@Test
	void theImportsAreAllAutoConfigurationsSorted() throws IOException {
		TreeSet<String> declared = new TreeSet<>();
		MetadataReaderFactory readers = new SimpleMetadataReaderFactory();
		for (Resource resource : new PathMatchingResourcePatternResolver()
			.getResources("classpath*:dev/llmresilience/**/*.class")) {
			MetadataReader reader = readers.getMetadataReader(resource);
			if (reader.getAnnotationMetadata().hasAnnotation(AutoConfiguration.class.getName())) {
				declared.add(reader.getClassMetadata().getClassName());
			}
		}
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
