package dev.llmresilience.autoconfigure;

import java.util.Arrays;
import java.util.stream.Stream;

import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmRetry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a user reads when the application does not start.
 */
@ExtendWith(OutputCaptureExtension.class)
class StartFailureTests {

	private static final String ABOVE_ZERO = "must be a duration above zero, such as 500ms, 30s or 5m, and at most 100 years";

	private static final String ZERO_OR_MORE = "must be a duration of zero or more, such as 0s, 500ms or 30s, and at most 100 years";

	private static final String ANTHROPIC = "llm.resilience.providers.anthropic.";

	private static final String SHARED_WITH = "\"" + ANTHROPIC + "limiter.shared-with\" from property source \"test\"";

	private static final String HOST = "must be the plain name of a host, without scheme, port or path";

	private static final String READABLE = "must be a duration: a number and ns, us, ms, s, m, h or d, such as 500ms, 30s or 5m";

	private static final String PERCENTAGE = "must be a percentage above 0 and up to 100";

	private static final String RATE = "must be a number above 0, decimals allowed";

	private static final String SHARE = "must be above 0 and at most 1";

	private static final String LEVEL = "must be full, empty, or a number of calls from 0 to the burst";

	private static final String INHERIT = "Set a value that is allowed, or leave the property out to inherit it.";

	private static final String SPELLING = "'%s' is not a provider name: a name is a short kebab-case word of the letters "
			+ "a to z, digits and single hyphens, and begins with a letter";

	private static Stream<Arguments> values() {
		return Stream
			.of(values("retry.max-attempts", "must be at least 1", "0", "-1"),
					values("retry.max-attempts", "must be a whole number", "many", "1.5", "99999999999"),
					values("retry.rate-limit-retries", "must be at least 0", "-1"),
					values("retry.rate-limit-max-elapsed", ABOVE_ZERO, "0s", "-5s"),
					values("retry.base-delay", ABOVE_ZERO, "0s", "-5s", "40000d"),
					values("retry.base-delay", READABLE, "soon", "5 s later", "PT", "s"),
					values("retry.rate-limit-base-delay", ABOVE_ZERO, "0ms", "-1ms"),
					values("retry.max-delay", ABOVE_ZERO, "0s", "-5s"),
					values("retry.multiplier", "must be at least 1", "0.9", "-2", "NaN", "Infinity"),
					values("retry.multiplier", "must be a number", "two"),
					values("retry.jitter", "must be one of [full, equal, decorrelated, proportional, none]", "some"),
					values("retry.jitter-factor", "must be from 0 to 1", "-0.1", "1.1", "NaN"),
					values("retry.retry-after-spread", ZERO_OR_MORE, "-1s"),
					values("retry.max-retry-after", ZERO_OR_MORE, "-1s"),
					values("retry.timeout", ABOVE_ZERO, "0s", "-1s"), values("retry.timeout", READABLE, "2 minutes"),
					values("retry.attempt-timeout", ABOVE_ZERO, "0s", "-1s"),
					values("retry.attempt-timeout-multiplier", "must be at least 1", "0", "NaN"),
					values("budget.enabled", "must be true or false", "maybe"),
					values("budget.capacity", "must be at least 1", "0", "-1", "NaN", "Infinity"),
					values("budget.refill-per-success", "must be at least 0", "-0.1", "NaN"),
					values("budget.refill-per-minute", "must be at least 0", "-1", "NaN"),
					values("limiter.requests-per-minute", RATE, "0", "-600", "NaN", "Infinity"),
					values("limiter.requests-per-minute", "must be a number", "600/min"),
					values("limiter.burst", "must be at least 1", "0", "-1"),
					values("limiter.share", SHARE, "0", "-0.5", "1.1", "NaN"),
					values("limiter.share", "must be a number", "a quarter"),
					values("limiter.initial-level", LEVEL, "half", "-1", "NaN", "Infinity", "1e999", "5d", " "),
					values("limiter.tokens-per-minute", RATE, "0", "-1", "NaN", "Infinity"),
					values("limiter.tokens-per-minute", "must be a number", "40k"),
					values("limiter.input-tokens-per-minute", RATE, "0", "-1", "NaN", "Infinity"),
					values("limiter.output-tokens-per-minute", RATE, "0", "-1", "NaN", "Infinity"),
					values("limiter.default-tokens", "must be at least 1", "0", "-1"),
					values("limiter.default-tokens", "must be a whole number", "some", "1.5"),
					values("limiter.max-concurrent-calls", "must be at least 1", "0", "-1"),
					values("limiter.max-concurrent-calls", "must be a whole number", "few"),
					values("limiter.max-wait", ZERO_OR_MORE, "-1s"),
					values("limiter.max-waiting", "must be at least 0", "-1"),
					values("limiter.network-margin", ZERO_OR_MORE, "-1ms"),
					values("limiter.mode", "must be one of [adaptive, fixed, off]", "sometimes"),
					values("breaker.enabled", "must be true or false", "2"),
					values("breaker.failure-threshold", "must be at least 1", "0", "-1"),
					values("breaker.failure-rate-threshold", PERCENTAGE, "0", "-1", "100.5", "NaN"),
					values("breaker.window-size", "must be at least 1", "0", "-1"),
					values("breaker.slow-call-duration", ABOVE_ZERO, "0s", "-1s"),
					values("breaker.open-duration", ABOVE_ZERO, "0s", "-1s"),
					values("breaker.max-open-duration", ABOVE_ZERO, "0s", "-1s"),
					values("breaker.trial-timeout", ABOVE_ZERO, "0s", "-1s"),
					values("quota.cool-down", ABOVE_ZERO, "0s", "-1s"), values("account", "must not be blank", " "))
			.flatMap(Arrays::stream);
	}

	private static Arguments[] values(String property, String reason, String... values) {
		return Stream.of(values)
			.map((value) -> Arguments.of("llm.resilience.providers.anthropic." + property, value, reason))
			.toArray(Arguments[]::new);
	}

	@ParameterizedTest
	@MethodSource("values")
	void aBadValueIsShownWithWhatIsAllowed(String property, String value, String reason, CapturedOutput output) {
		new Starts().with(property, value).fail();
		assertOneMessage(output, "\"" + property + "\" from property source \"test\"", reason, INHERIT);
		assertThat(output).contains("    Property: " + property + "\n").contains("    Value: \"" + value + "\"\n");
	}

	@ParameterizedTest
	@CsvSource({ "llm.resilience.enabled, maybe, must be true or false",
			"llm.resilience.strict, perhaps, must be true or false", "llm.resilience.max-keys, 0, must be at least 1",
			"llm.resilience.max-keys, -1, must be at least 1", "llm.resilience.max-keys, many, must be a whole number",
			"llm.resilience.aspect.order, first, must be a whole number",
			"llm.resilience.providers.anthropic.retry, fast, 'must be a group of properties, each with a name of its own below this one'",
			"llm.resilience.providers.anthropic, yes, 'must be a group of properties, each with a name of its own below this one'",
			"llm.resilience.providers, anthropic, 'must be a group of properties, each with a name of its own below this one'" })
	void aBadValueOutsideOfTheEntriesIsShownTheSameWay(String property, String value, String reason,
			CapturedOutput output) {
		new Starts().with(property, value).fail();
		assertOneMessage(output, "\"" + property + "\" from property source \"test\"", reason, INHERIT);
		assertThat(output).contains("    Property: " + property + "\n").contains("    Value: \"" + value + "\"\n");
	}

	@ParameterizedTest
	@CsvSource({ "https://api.example.com/v1, api.example.com", "http://LOCALHOST, localhost",
			"api.example.com:8443, api.example.com", "api.example.com/, api.example.com",
			"http://127.0.0.1:8080/v1?a=b, 127.0.0.1" })
	void aUrlForAHostIsRefusedWithTheHost(String value, String host, CapturedOutput output) {
		new Starts().with(ANTHROPIC + "hosts[0]", "localhost").with(ANTHROPIC + "hosts[1]", value).fail();
		assertOneMessage(output, "\"" + ANTHROPIC + "hosts[1]\" from property source \"test\"", HOST,
				"Write '" + host + "'.");
		assertThat(output).contains("    Property: " + ANTHROPIC + "hosts[1]\n")
			.contains("    Value: \"" + value + "\"\n");
	}

	@ParameterizedTest
	@ValueSource(strings = { "*.example.com", "my host", "-host", "host..example", "https://", "[::1]" })
	void whatIsNoHostIsRefused(String value, CapturedOutput output) {
		new Starts().with(ANTHROPIC + "hosts", value).fail();
		assertOneMessage(output, "\"" + ANTHROPIC + "hosts\" from property source \"test\"", HOST, INHERIT);
		assertThat(output).contains("    Value: \"" + value + "\"\n");
	}

	@Test
	void thePasswordInAUrlIsNotShown(CapturedOutput output) {
		new Starts().with(ANTHROPIC + "hosts", "https://user:secret@api.example.com/v1").fail();
		assertOneMessage(output, "\"" + ANTHROPIC + "hosts\" from property source \"test\"", HOST,
				"Write 'api.example.com'.");
		assertThat(output).doesNotContain("secret");
	}

	@ParameterizedTest
	@CsvSource({ "burst, 20, 20.5, 20", "requests-per-minute, 600, 11, 10", "requests-per-minute, 30, 2, 1" })
	void anInitialLevelAboveTheBurstIsRefused(String property, String value, String level, String burst,
			CapturedOutput output) {
		new Starts().with(ANTHROPIC + "limiter." + property, value)
			.with(ANTHROPIC + "limiter.initial-level", level)
			.fail();
		assertOneMessage(output, "\"" + ANTHROPIC + "limiter.initial-level\" from property source \"test\"",
				LEVEL + ", which is " + burst + " for 'anthropic'", "Lower it, or raise the burst.");
	}

	@Test
	void theShareCountsForTheInitialLevelToo(CapturedOutput output) {
		new Starts().with(ANTHROPIC + "limiter.requests-per-minute", "600")
			.with(ANTHROPIC + "limiter.share", "0.25")
			.with(ANTHROPIC + "limiter.initial-level", "3")
			.fail();
		assertThat(output).contains("    Reason: " + LEVEL + ", which is 2 for 'anthropic'\n");
	}

	@Test
	void anInheritedInitialLevelAboveTheBurstIsShownWhereItIsSet(CapturedOutput output) {
		new Starts().with(ANTHROPIC + "limiter.burst", "5")
			.with("llm.resilience.providers.default.limiter.initial-level", "7")
			.fail();
		assertOneMessage(output,
				"\"llm.resilience.providers.default.limiter.initial-level\" from property source \"test\"",
				LEVEL + ", which is 5 for 'anthropic'", "Lower it, or raise the burst.");
	}

	@ParameterizedTest
	@CsvSource({ "1, 1001, 1000", "0.25, 251, 250" })
	void aCallOfMoreTokensThanThereEverAreIsRefused(String share, String tokens, String most, CapturedOutput output) {
		new Starts().with(ANTHROPIC + "limiter.tokens-per-minute", "1000")
			.with(ANTHROPIC + "limiter.share", share)
			.with(ANTHROPIC + "limiter.default-tokens", tokens)
			.fail();
		assertOneMessage(output, "\"" + ANTHROPIC + "limiter.default-tokens\" from property source \"test\"",
				"must be at most the tokens-per-minute, of which 'anthropic' has " + most + " in this process",
				"Lower it, or raise tokens-per-minute: a call of more tokens could never be made.");
	}

	@Test
	void aLimiterIsNotSharedWithWhatIsNotThere(CapturedOutput output) {
		new Starts().with(ANTHROPIC + "limiter.shared-with", "antropic")
			.with("llm.resilience.providers.openai.account", "us")
			.fail();
		assertOneMessage(output, SHARED_WITH, "must be the name of another entry: there are [default, openai]",
				"Use one of these names, or leave the property out for a limiter of its own.");
		assertThat(output).contains("    Value: \"antropic\"\n");
	}

	@Test
	void aLimiterIsNotSharedWithItself(CapturedOutput output) {
		new Starts().with(ANTHROPIC + "limiter.shared-with", "anthropic").fail();
		assertOneMessage(output, SHARED_WITH, "must be the name of another entry: there are [default]",
				"Use one of these names, or leave the property out for a limiter of its own.");
	}

	@Test
	void limitersAreNotSharedInACircle(CapturedOutput output) {
		new Starts().with(ANTHROPIC + "limiter.shared-with", "two")
			.with("llm.resilience.providers.two.limiter.shared-with", "three")
			.with("llm.resilience.providers.three.limiter.shared-with", "anthropic")
			.fail();
		assertOneMessage(output, SHARED_WITH,
				"leads in a circle, so that none has a limiter: anthropic -> two -> three -> anthropic",
				"Leave the property out at the entry whose limiter the others are to use.");
	}

	@Test
	void theDefaultEntrySharesNoLimiter(CapturedOutput output) {
		new Starts().with("llm.resilience.providers.default.limiter.shared-with", "openai")
			.with("llm.resilience.providers.openai.account", "us")
			.fail();
		assertOneMessage(output,
				"\"llm.resilience.providers.default.limiter.shared-with\" from property source \"test\"",
				"is not inherited and means nothing on default, which others inherit from",
				"Set it on each of the entries that the provider counts together.");
	}

	@ParameterizedTest
	@CsvSource({ "requests-per-minute, 600", "burst, 3", "share, 0.5", "initial-level, empty",
			"tokens-per-minute, 1000", "input-tokens-per-minute, 1000", "output-tokens-per-minute, 1000",
			"default-tokens, 10", "max-concurrent-calls, 3" })
	void whatTheSharedLimiterIsCannotBeSaidTwice(String property, String value, CapturedOutput output) {
		new Starts().with(ANTHROPIC + "limiter.shared-with", "openai")
			.with(ANTHROPIC + "limiter." + property, value)
			.with("llm.resilience.providers.openai.account", "us")
			.fail();
		assertOneMessage(output, SHARED_WITH,
				"makes 'anthropic' use the limiter of 'openai', beside which its own [" + property
						+ "] would mean nothing",
				"Set these on 'openai', where they hold for both, or leave shared-with out.");
	}

	@Test
	void anUnknownProviderTypeIsAnsweredWithAllThatThereAre(CapturedOutput output) {
		new Starts().with("llm.resilience.providers.chat.type", "anthropics").fail();
		assertThat(output).contains("    Property: llm.resilience.providers.chat.type\n")
			.contains("    Value: \"anthropics\"\n")
			.contains("    Reason: must be one of [anthropic, openai,")
			.contains("generic");
	}

	@Test
	void theWholeMessageOfABadValueInAFileNamesItsLine(CapturedOutput output) {
		new Starts().withYaml("""
				llm:
				  resilience:
				    providers:
				      anthropic:
				        retry:
				          base-delay: -5s
				""").fail();
		assertThat(output).contains("""
				***************************
				APPLICATION FAILED TO START
				***************************

				Description:

				A property of llm.resilience cannot work:

				    Property: llm.resilience.providers.anthropic.retry.base-delay
				    Value: "-5s"
				    Origin: Byte array resource [application.yml] - 6:23
				    Reason: must be a duration above zero, such as 500ms, 30s or 5m, and at most 100 years

				Action:

				Set a value that is allowed, or leave the property out to inherit it.
				""");
	}

	@Test
	void theWholeMessageOfAnUnreadableValueInAFileNamesItsLine(CapturedOutput output) {
		new Starts().withYaml("""
				llm.resilience.providers:
				  default:
				    breaker:
				      open-duration: a while
				""").fail();
		assertThat(output).contains("""
				Description:

				A property of llm.resilience cannot be read:

				    Property: llm.resilience.providers.default.breaker.open-duration
				    Value: "a while"
				    Origin: Byte array resource [application.yml] - 4:22
				    Reason: must be a duration: a number and ns, us, ms, s, m, h or d, such as 500ms, 30s or 5m

				Action:

				Set a value that is allowed, or leave the property out to inherit it.
				""");
	}

	@Test
	void aDottedNameInAFileIsRefusedWithTheLine(CapturedOutput output) {
		new Starts().withYaml("""
				llm:
				  resilience:
				    providers:
				      gpt-4.1:
				        retry:
				          max-attempts: 3
				""").fail();
		assertThat(output).contains(
				"""
						A property of llm.resilience cannot work:

						    Property: llm.resilience.providers.gpt-4.1.retry.max-attempts
						    Origin: Byte array resource [application.yml] - 6:25
						    Reason: the provider name 'gpt-4.1' holds a dot, which separates the parts of a property name

						Action:

						Rename the entry to a short kebab-case word, for example 'gpt-4-1'. The name of the model belongs where \
						the model is configured.
						""");
	}

	@ParameterizedTest
	@ValueSource(strings = { "llm.resilience.providers.gpt-4.1.retry.max-attempts",
			"llm.resilience.providers.gpt-4.1.retry.max-atempts", "llm.resilience.providers.gpt-4.1.type",
			"llm.resilience.providers.gpt-4.1.limiter.requests-per-minute",
			"llm.resilience.providers.gpt-4.1.hosts[0]" })
	void aDottedNameIsRefused(String property, CapturedOutput output) {
		new Starts().with(property, "3").fail();
		assertThat(output).contains("the provider name 'gpt-4.1' holds a dot").contains("for example 'gpt-4-1'");
	}

	@Test
	void aNameOfManyDotsIsRefusedWhole(CapturedOutput output) {
		new Starts().with("llm.resilience.providers.eu.gpt-4.1.mini.retry.max-attempts", "3").fail();
		assertThat(output).contains("the provider name 'eu.gpt-4.1.mini' holds a dot");
	}

	@ParameterizedTest
	@CsvSource({ "[gpt-4.1], gpt-4.1, gpt-4-1", "[azure/gpt], azure/gpt, azure-gpt", "my_model, my_model, my-model",
			"MyModel, MyModel, mymodel", "4o, 4o, o", "a--b, a--b, a-b", "[-], -, my-model", "[ü], ü, my-model" })
	void aNameThatIsNoKebabCaseWordIsRefused(String spelled, String name, String suggestion, CapturedOutput output) {
		new Starts().with("llm.resilience.providers." + spelled + ".retry.max-attempts", "3").fail();
		assertOneMessage(output, "from property source \"test\"", SPELLING.formatted(name),
				"Rename the entry, for example to '" + suggestion + "'.");
	}

	@ParameterizedTest
	@CsvSource({ "azure-openai, azureopenai", "my-model, my_model", "my-model, MyModel", "a-b-c, abc" })
	void namesThatTheBinderCannotTellApartAreRefused(String one, String other, CapturedOutput output) {
		new Starts().with("llm.resilience.providers." + one + ".retry.max-attempts", "3")
			.with("llm.resilience.providers." + other + ".retry.max-attempts", "5")
			.fail();
		assertThat(output)
			.contains("the provider names '" + one + "' and '" + other + "' differ only in case, hyphens or "
					+ "underscores, and properties cannot tell them apart")
			.contains("Rename one of them");
	}

	@Test
	void theWholeMessageOfAnUnknownProviderListsTheKnownOnes(CapturedOutput output) {
		new Starts().with(UnknownProvider.class)
			.with("llm.resilience.providers.openai.retry.max-attempts", "3")
			.with("llm.resilience.providers.anthropic.retry.max-attempts", "3")
			.fail();
		assertThat(output).contains(
				"""
						Description:

						@LlmRetry(provider = "antropic") on \
						dev.llmresilience.autoconfigure.StartFailureTests$UnknownProvider.call names a provider that is not \
						configured: known are [anthropic, default, openai].

						Action:

						Use one of the known names, add an entry to llm.resilience.providers (a short kebab-case word, and at \
						least one property below it, such as type), or set llm.resilience.strict=false to make such calls under 'default'.
						""");
	}

	@Test
	void anUnknownProviderIsTheDefaultOneWhereNothingIsStrict() {
		try (ConfigurableApplicationContext context = new Starts().with(UnknownProvider.class)
			.with("llm.resilience.strict", "false")
			.run()) {
			assertThat(context.getBean(UnknownProvider.class).call()).isEqualTo("default");
		}
	}

	@Test
	void aMissingFallbackMethodIsDescribed(CapturedOutput output) {
		new Starts().with(MissingFallback.class).fail();
		assertThat(output).contains("@LlmRetry(fallbackMethod = \"sorry\") on "
				+ "dev.llmresilience.autoconfigure.StartFailureTests$MissingFallback.call names no method that fits.")
			.contains("Add a method 'sorry' to dev.llmresilience.autoconfigure.StartFailureTests$MissingFallback that "
					+ "takes [String, int], with or without a Throwable after them, and returns String.");
	}

	@Test
	void aNegativeNumberOfAttemptsIsRefused(CapturedOutput output) {
		new Starts().with(NegativeAttempts.class).fail();
		assertThat(output)
			.contains("@LlmRetry(maxAttempts = \"-1\") on "
					+ "dev.llmresilience.autoconfigure.StartFailureTests$NegativeAttempts.call is negative.")
			.contains("Use 1 or more, or 0 to inherit.");
	}

	@ParameterizedTest
	@CsvSource({ "whenever, is not a duration", "0s, is not above zero", "-3s, is not above zero",
			"40000d, is longer than 100 years", "99999999999999d, is longer than 100 years",
			"999999999999999999999s, is not a duration" })
	void aBadTimeoutIsRefused(String timeout, String problem, CapturedOutput output) {
		new Starts().with(Timeout.class).with("my.timeout", timeout).fail();
		assertThat(output)
			.contains("@LlmRetry(timeout = \"${my.timeout}\") on "
					+ "dev.llmresilience.autoconfigure.StartFailureTests$Timeout.call resolves to \"" + timeout
					+ "\", which " + problem + ".")
			.contains("Use a duration above zero such as \"500ms\", \"30s\" or \"5m\", or \"\" to inherit.");
	}

	@Test
	void aTimeoutThatNothingResolvesIsRefused(CapturedOutput output) {
		new Starts().with(Timeout.class).fail();
		assertThat(output)
			.contains("@LlmRetry(timeout = \"${my.timeout}\") on "
					+ "dev.llmresilience.autoconfigure.StartFailureTests$Timeout.call holds a placeholder that nothing "
					+ "resolves.")
			.contains("Set the property that it names, or give it a default such as \"${my.timeout:30s}\".");
	}

	@Test
	void aBadAttemptTimeoutIsRefused(CapturedOutput output) {
		new Starts().with(AttemptTimeout.class).fail();
		assertThat(output).contains("@LlmRetry(attemptTimeout = \"-\") on "
				+ "dev.llmresilience.autoconfigure.StartFailureTests$AttemptTimeout.call is not a duration.");
	}

	@Test
	void theWholeMessageOfAnUnknownNameInAKeyListsTheKnownOnes(CapturedOutput output) {
		new Starts().with(UnknownName.class).fail();
		assertThat(output).contains(
				"""
						Description:

						@LlmRetry(key = "#tenat") on dev.llmresilience.autoconfigure.StartFailureTests$UnknownName.call \
						names #tenat, which is no parameter: known are [#tenant, #p0, #a0].

						Action:

						Use one of the known names. Those of parameters are only known where the code is compiled with -parameters.
						""");
	}

	@Test
	void anExpressionThatCannotBeParsedIsRefused(CapturedOutput output) {
		new Starts().with(BrokenExpression.class).fail();
		assertThat(output).contains("@LlmRetry(tokens = \"#text.length() /\") on "
				+ "dev.llmresilience.autoconfigure.StartFailureTests$BrokenExpression.call is not a SpEL expression: "
				+ "EL1042E: Problem parsing right operand, at position 15.")
			.contains("Use an expression over the arguments such as \"#p0\" or \"#text.length() / 4\".");
	}

	@Test
	void aConstantThatIsNoNumberOfTokensIsRefused(CapturedOutput output) {
		new Starts().with(ConstantText.class).fail();
		assertThat(output)
			.contains("@LlmRetry(tokens = \"'many'\") on "
					+ "dev.llmresilience.autoconfigure.StartFailureTests$ConstantText.call is not a number of tokens.")
			.contains("Use a number of tokens, zero or more, such as \"2000\" or \"#text.length() / 4 + 500\".");
	}

	private static void assertOneMessage(CapturedOutput output, String origin, String reason, String action) {
		assertThat(output).containsOnlyOnce("APPLICATION FAILED TO START")
			.contains("    Origin: " + (origin.startsWith("\"") ? origin : ""))
			.contains(origin)
			.contains("    Reason: " + reason + "\n")
			.contains("Action:\n\n" + action)
			.doesNotContain("Application run failed");
	}

	static class UnknownProvider {

		@LlmRetry("antropic")
		public String call() {
			LlmCall call = LlmCall.current();
			return (call != null) ? call.provider() : "none";
		}

	}

	static class MissingFallback {

		@LlmRetry(fallbackMethod = "sorry")
		public String call(String question, int length) {
			return question;
		}

		String sorry(String question) {
			return question;
		}

		Integer sorry(String question, int length) {
			return length;
		}

	}

	static class NegativeAttempts {

		@LlmRetry(maxAttempts = -1)
		public void call() {
		}

	}

	static class Timeout {

		@LlmRetry(timeout = "${my.timeout}")
		public void call() {
		}

	}

	static class AttemptTimeout {

		@LlmRetry(attemptTimeout = "-")
		public void call() {
		}

	}

	static class UnknownName {

		@LlmRetry(key = "#tenat")
		public void call(String tenant) {
		}

	}

	static class BrokenExpression {

		@LlmRetry(tokens = "#text.length() /")
		public void call(String text) {
		}

	}

	static class ConstantText {

		@LlmRetry(tokens = "'many'")
		public void call(String text) {
		}

	}

}
