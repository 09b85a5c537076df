package dev.llmresilience.autoconfigure;

import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import dev.llmresilience.autoconfigure.LlmResilienceProperties.ProviderEntry;
import dev.llmresilience.engine.Provider;
import dev.llmresilience.engine.ProviderSettings;
import dev.llmresilience.engine.Providers;
import dev.llmresilience.failure.ProviderType;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings.TokenLimits;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How entries inherit, how they are spelled, and what is said about misspelt ones.
 */
@ExtendWith(OutputCaptureExtension.class)
class PropertiesTests {

	private static final String PROVIDERS = "llm.resilience.providers.";

	/** For each property two values, neither of them built in, that differ. */
	private static final Map<String, List<String>> samples = samples();

	private static Map<String, List<String>> samples() {
		Map<String, List<String>> samples = new LinkedHashMap<>();
		collect(ProviderEntry.class, "", samples);
		samples.put("account", List.of("us", "them"));
		samples.put("hosts", List.of("one.example", "other.example"));
		samples.put("breaker.failure-rate-threshold", List.of("50.0", "60.0"));
		samples.put("limiter.share", List.of("0.5", "0.25"));
		samples.put("limiter.initial-level", List.of("empty", "full"));
		samples.remove("limiter.shared-with"); // The only one that is not inherited.
		samples.remove("retry.failover"); // Names other entries; see
											// FailoverPropertiesTests.
		samples.put("retry.failover-on", List.of("OVERLOADED", "TIMEOUT"));
		samples.put("retry.idempotency-key-header", List.of("Idempotency-Key", "X-Key"));
		samples.put("retry.jitter-factor", List.of("0.5", "0.6"));
		return samples;
	}

	private static void collect(Class<?> type, String prefix, Map<String, List<String>> samples) {
		for (RecordComponent component : type.getRecordComponents()) {
			String name = prefix + DataObjectPropertyName.toDashedForm(component.getName());
			Class<?> of = component.getType();
			if (of.isRecord()) {
				collect(of, name + ".", samples);
			}
			else if (of == Duration.class) {
				samples.put(name, List.of("PT17S", "PT18S"));
			}
			else if (of == Integer.class || of == Long.class) {
				samples.put(name, List.of("17", "18"));
			}
			else if (of == Double.class) {
				samples.put(name, List.of("17.5", "18.5"));
			}
			else if (of == Boolean.class) {
				samples.put(name, List.of("false", "true"));
			}
			else if (of.isEnum()) {
				Object[] constants = of.getEnumConstants();
				samples.put(name, List.of(constants[1].toString(), constants[0].toString()));
			}
			else {
				samples.put(name, List.of());
			}
		}
	}

	static Stream<String> properties() {
		return samples.keySet().stream();
	}

	@ParameterizedTest
	@MethodSource("properties")
	void aPropertyIsTakenFromTheEntryElseFromDefaultElseBuiltIn(String property) {
		assertThat(samples.get(property)).as("two sample values").hasSize(2);
		String own = sample(property, 0);
		String inherited = sample(property, 1);
		String builtIn = settings("chat").toString();
		String entrySet = settings("chat", PROVIDERS + "chat." + property, own).toString();
		String defaultSet = settings("chat", PROVIDERS + "default." + property, own).toString();
		String bothSet = settings("chat", PROVIDERS + "chat." + property, own, PROVIDERS + "default." + property,
				inherited)
			.toString();
		assertThat(defaultSet).as("set in default").isEqualTo(entrySet);
		assertThat(bothSet).as("set in both").isEqualTo(entrySet);
		if (dependsOnNothing(property)) {
			assertThat(entrySet).as("set at all").isNotEqualTo(builtIn);
		}
	}

	@ParameterizedTest
	@MethodSource("properties")
	void aPropertyOfOneEntryChangesNoOther(String property) {
		assertThat(settings("other", PROVIDERS + "chat." + property, sample(property, 0), PROVIDERS + "other.account",
				"other"))
			.hasToString(settings("other", PROVIDERS + "other.account", "other").toString());
	}

	/** Without a rate, pacing at it is as good as not pacing. */
	private static boolean dependsOnNothing(String property) {
		return !property.equals("limiter.mode");
	}

	private static String sample(String property, int index) {
		return samples.getOrDefault(property, List.of()).get(index);
	}

	@Test
	void whatIsNotSetIsBuiltIn() {
		assertThat(settings("chat")).isEqualTo(ProviderSettings.defaults("chat"));
		assertThat(settings("default")).isEqualTo(ProviderSettings.defaults("default"));
	}

	@ParameterizedTest
	@CsvSource({ "anthropic, ANTHROPIC", "openai, OPENAI", "anthropic-eu, ANTHROPIC", "openai-mini, OPENAI",
			"azure-openai, AZURE_OPENAI", "azure-openai-eu, AZURE_OPENAI", "chat, GENERIC", "my-openai, GENERIC",
			"openaix, GENERIC", "default, GENERIC" })
	void theTypeIsTakenFromTheName(String name, ProviderType type) {
		assertThat(settings(name).type()).isEqualTo(type);
	}

	@Test
	void theTypeThatIsSetWinsOverTheName() {
		assertThat(settings("openai-mini", PROVIDERS + "openai-mini.type", "anthropic").type())
			.isEqualTo(ProviderType.ANTHROPIC);
	}

	@Test
	void theNameWinsOverTheTypeOfDefault() {
		assertThat(settings("openai", PROVIDERS + "default.type", "anthropic").type()).isEqualTo(ProviderType.OPENAI);
		assertThat(settings("chat", PROVIDERS + "default.type", "anthropic").type()).isEqualTo(ProviderType.ANTHROPIC);
	}

	@Test
	void theModeOfALimiterIsInheritedAndOverridden() {
		assertThat(settings("chat").limiter().mode()).isEqualTo(LimiterMode.ADAPTIVE);
		assertThat(settings("chat", PROVIDERS + "default.limiter.mode", "off").limiter().mode())
			.isEqualTo(LimiterMode.OFF);
		assertThat(settings("chat", PROVIDERS + "default.limiter.mode", "off", PROVIDERS + "chat.limiter.mode", "fixed")
			.limiter()
			.mode()).isEqualTo(LimiterMode.FIXED);
	}

	@ParameterizedTest
	@CsvSource({ "full, ", "FULL, ", "empty, 0", "Empty, 0", "0, 0", "7, 7", "2.5, 2.5", "20, 20" })
	void theInitialLevelIsAWordOrANumberOfCalls(String level, @Nullable Double calls) {
		assertThat(settings("chat", PROVIDERS + "chat.limiter.burst", "20", PROVIDERS + "chat.limiter.initial-level",
				level)
			.limiter()
			.initialLevel()).isEqualTo(calls);
	}

	@Test
	void withoutARateAnyInitialLevelMayTurnOutToFit() {
		assertThat(settings("chat", PROVIDERS + "chat.limiter.initial-level", "500").limiter().initialLevel())
			.isEqualTo(500);
	}

	@Test
	void theLimitsOnTokensAreRead() {
		String limiter = PROVIDERS + "chat.limiter.";
		assertThat(settings("chat", limiter + "tokens-per-minute", "40000.5", limiter + "input-tokens-per-minute",
				"30000", limiter + "output-tokens-per-minute", "8000", limiter + "default-tokens", "1200")
			.limiter()
			.tokens()).isEqualTo(new TokenLimits(40000.5, 30000.0, 8000.0, 1200L));
	}

	@Test
	void hostsAreReadInAnyFormAndInLowerCase() {
		assertThat(settings("chat", PROVIDERS + "chat.hosts", "API.Example.com,127.0.0.1").hosts())
			.containsExactly("api.example.com", "127.0.0.1");
		assertThat(settings("chat", PROVIDERS + "chat.hosts[0]", "localhost", PROVIDERS + "chat.hosts[1]", "my-gateway")
			.hosts()).containsExactly("localhost", "my-gateway");
	}

	@Test
	void theHostsThatAreSetWinOverThoseOfTheType() {
		assertThat(settings("openai").hosts()).isEqualTo(ProviderType.OPENAI.hosts());
		assertThat(settings("openai", PROVIDERS + "openai.hosts", "localhost").hosts()).containsExactly("localhost");
	}

	@Test
	void anEmptyListOfHostsSetsNothing() {
		assertThat(settings("chat", PROVIDERS + "chat.hosts", "", PROVIDERS + "default.hosts", "localhost").hosts())
			.containsExactly("localhost");
	}

	@Test
	void hostsInAListAreNoReasonToWarn(CapturedOutput output) {
		settings("chat", PROVIDERS + "chat.hosts[0]", "localhost");
		assertThat(output).doesNotContain("Unknown property");
	}

	@Test
	void anEntryUsesTheLimiterOfAnother() {
		assertThat(
				settings("chat", PROVIDERS + "chat.limiter.shared-with", "openai", PROVIDERS + "openai.type", "openai")
					.limiterSharedWith())
			.isEqualTo("openai");
		assertThat(settings("chat").limiterSharedWith()).isNull();
	}

	@Test
	void anEntryUsesTheLimiterAtTheEndOfAChain() {
		assertThat(
				settings("chat", PROVIDERS + "chat.limiter.shared-with", "mini", PROVIDERS + "mini.limiter.shared-with",
						"openai", PROVIDERS + "openai.limiter.requests-per-minute", "600")
					.limiterSharedWith())
			.isEqualTo("openai");
	}

	@Test
	void anEntryThatUsesTheLimiterOfAnotherMayInheritWhatItDoesNotNeed() {
		assertThat(settings("chat", PROVIDERS + "chat.limiter.shared-with", "openai",
				PROVIDERS + "default.limiter.max-wait", "5s", PROVIDERS + "default.limiter.requests-per-minute", "600",
				PROVIDERS + "openai.limiter.burst", "3")
			.limiterSharedWith()).isEqualTo("openai");
	}

	@Test
	void thereIsRoomForAThousandKeysUnlessSet() {
		assertThat(maxKeys(new Starts())).isEqualTo(1000);
		assertThat(maxKeys(new Starts().with("llm.resilience.max-keys", "7"))).isEqualTo(7);
	}

	private static int maxKeys(Starts starts) {
		try (ConfigurableApplicationContext context = starts.run()) {
			return context.getBean(LlmResilienceProperties.class).maxKeys();
		}
	}

	@Test
	void anEntryIsAnAccountOfItsOwnUnlessSet() {
		assertThat(settings("chat").account()).isEqualTo("chat");
		assertThat(settings("chat", PROVIDERS + "chat.account", "team").account()).isEqualTo("team");
	}

	@Test
	void entriesOfOneAccountShareItsLatch() {
		try (ConfigurableApplicationContext context = new Starts().with(PROVIDERS + "one.account", "team")
			.with(PROVIDERS + "two.account", "team")
			.with(PROVIDERS + "three.account", "other")
			.run()) {
			Providers providers = context.getBean(Providers.class);
			assertThat(providers.get("one").accountQuota()).isSameAs(providers.get("two").accountQuota())
				.isNotSameAs(providers.get("three").accountQuota());
		}
	}

	@Test
	void anEmptyEntryInYamlExists() {
		assertThat(names("""
				llm.resilience.providers:
				  anthropic:
				  openai: # nothing of its own
				""")).containsExactly("anthropic", "default", "openai");
	}

	@Test
	void anEmptyGroupInYamlSetsNothing() {
		try (ConfigurableApplicationContext context = new Starts().withYaml("""
				llm.resilience:
				  aspect:
				  providers:
				    anthropic:
				      retry:
				        # max-attempts: 3
				      budget: {}
				      limiter:
				      breaker:
				      quota:
				""").run()) {
			assertThat(context.getBean(Providers.class).get("anthropic").settings().policy())
				.isEqualTo(ProviderSettings.defaults("anthropic").policy());
		}
	}

	@Test
	void noEntriesInYamlAreNone() {
		assertThat(names("llm.resilience.providers:\n")).containsExactly("default");
		assertThat(names("llm.resilience.providers: {}\n")).containsExactly("default");
		assertThat(names("llm.resilience:\n")).containsExactly("default");
	}

	@Test
	void anEmptyEntryThatIsFilledElsewhereIsFilled() {
		try (ConfigurableApplicationContext context = new Starts().withYaml("llm.resilience.providers.anthropic:\n")
			.with(PROVIDERS + "anthropic.retry.max-attempts", "7")
			.run()) {
			assertThat(policy(context, "anthropic")).isEqualTo(7);
		}
	}

	@Test
	void emptyGroupsAreNoReasonToWarn(CapturedOutput output) {
		names("""
				llm.resilience:
				  aspect:
				  providers:
				    anthropic:
				      retry:
				""");
		assertThat(output).doesNotContain("Unknown property");
	}

	@Test
	void anEnvironmentVariableOverridesAnEntryWithAHyphen() {
		try (ConfigurableApplicationContext context = new Starts()
			.withYaml(PROVIDERS + "azure-openai.retry.max-attempts: 3\n")
			.withVariable("LLM_RESILIENCE_PROVIDERS_AZUREOPENAI_RETRY_MAXATTEMPTS", "7")
			.run()) {
			assertThat(context.getBean(Providers.class).names()).containsExactly("azure-openai", "default");
			assertThat(policy(context, "azure-openai")).isEqualTo(7);
		}
	}

	@Test
	void anEnvironmentVariableWithUnderscoresForHyphensMakesNoEntry() {
		try (ConfigurableApplicationContext context = new Starts()
			.withYaml(PROVIDERS + "azure-openai.retry.max-attempts: 3\n")
			.withVariable("LLM_RESILIENCE_PROVIDERS_AZURE_OPENAI_RETRY_MAX_ATTEMPTS", "7")
			.run()) {
			assertThat(context.getBean(Providers.class).names()).containsExactly("azure-openai", "default");
		}
	}

	@Test
	void anEnvironmentVariableAloneMakesAnEntry() {
		try (ConfigurableApplicationContext context = new Starts()
			.withVariable("LLM_RESILIENCE_PROVIDERS_ANTHROPIC_RETRY_MAXATTEMPTS", "7")
			.run()) {
			assertThat(policy(context, "anthropic")).isEqualTo(7);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "retry.max-attempts", "retry.maxAttempts", "retry.max_attempts", "RETRY.MAX-ATTEMPTS" })
	void aPropertyIsKnownHoweverItIsSpelled(String spelled, CapturedOutput output) {
		try (ConfigurableApplicationContext context = new Starts().with(PROVIDERS + "chat." + spelled, "7").run()) {
			assertThat(policy(context, "chat")).isEqualTo(7);
			assertThat(output).doesNotContain("Unknown property");
		}
	}

	@ParameterizedTest
	@CsvSource({ "llm.resilience.providers.chat.retry.max-atempts, llm.resilience.providers.chat.retry.max-attempts",
			"llm.resilience.providers.chat.limiter.request-per-minute, llm.resilience.providers.chat.limiter.requests-per-minute",
			"llm.resilience.providers.chat.retries.max-attempts, llm.resilience.providers.chat.retry.max-attempts",
			"llm.resilience.providers.chat.acount, llm.resilience.providers.chat.account",
			"llm.resilience.provider.chat.retry.max-attempts, llm.resilience.providers.chat.retry.max-attempts",
			"llm.resilience.providers.chat.host, llm.resilience.providers.chat.hosts",
			"llm.resilience.providers.chat.limiter.shared-width, llm.resilience.providers.chat.limiter.shared-with",
			"llm.resilience.enable, llm.resilience.enabled", "llm.resilience.max-key, llm.resilience.max-keys",
			"llm.resilience.aspect.oder, llm.resilience.aspect.order" })
	void anUnknownPropertyIsOneWarningThatNamesTheNearest(String unknown, String nearest, CapturedOutput output) {
		new Starts().with(unknown, "3").withYaml(unknown + ": 4\n").run().close();
		assertThat(output.getOut().lines().filter((line) -> line.contains("WARN"))).singleElement()
			.asString()
			.endsWith("Unknown property '" + unknown + "' is ignored: did you mean '" + nearest + "'?");
	}

	@Test
	void eachUnknownPropertyIsAWarningOfItsOwn(CapturedOutput output) {
		new Starts().with("llm.resilience.enable", "1").with("llm.resilience.stict", "2").run().close();
		assertThat(output.getOut().lines().filter((line) -> line.contains("Unknown property"))).hasSize(2);
	}

	@Test
	void theValueOfAnUnknownPropertyIsNotLogged(CapturedOutput output) {
		new Starts().with(PROVIDERS + "chat.api-key", "sk-secret").run().close();
		assertThat(output).contains("Unknown property 'llm.resilience.providers.chat.api-key'")
			.doesNotContain("sk-secret");
	}

	private static ProviderSettings settings(String name, String... properties) {
		Starts starts = new Starts().withYaml("llm.resilience.providers." + name + ":\n");
		for (int i = 0; i < properties.length; i += 2) {
			starts.with(properties[i], properties[i + 1]);
		}
		try (ConfigurableApplicationContext context = starts.run()) {
			return context.getBean(Providers.class).get(name).settings();
		}
	}

	private static List<String> names(String yaml) {
		try (ConfigurableApplicationContext context = new Starts().withYaml(yaml).run()) {
			return new ArrayList<>(context.getBean(Providers.class).names());
		}
	}

	private static int policy(ConfigurableApplicationContext context, String name) {
		@Nullable Provider provider = context.getBean(Providers.class).find(name);
		return (provider != null) ? provider.settings().policy().maxAttempts() : 0;
	}

}
