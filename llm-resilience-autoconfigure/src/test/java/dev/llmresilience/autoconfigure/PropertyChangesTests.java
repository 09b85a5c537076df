package dev.llmresilience.autoconfigure;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmResilience;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.aop.LlmRetryMethods;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.engine.KeyedProvider;
import dev.llmresilience.engine.Providers;
import dev.llmresilience.limiter.LimiterMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.autoconfigure.ConfigurationPropertiesRebinderAutoConfiguration;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.core.env.MapPropertySource;
import org.springframework.http.HttpStatus;
import org.springframework.web.client.HttpServerErrorException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Properties of provider entries that change while the application runs.
 */
@ExtendWith(OutputCaptureExtension.class)
class PropertyChangesTests {

	private static final String P = "llm.resilience.providers.";

	private static final String REFUSED = "Changed properties of providers are refused, and the values from before still hold: ";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class,
				PropertyChangesAutoConfiguration.class, ConfigurationPropertiesRebinderAutoConfiguration.class))
		.withPropertyValues(P + "anthropic.retry.base-delay=1ms", P + "anthropic.limiter.mode=fixed",
				P + "anthropic.limiter.requests-per-minute=6000", P + "haiku.limiter.shared-with=anthropic",
				P + "off.budget.enabled=false", P + "off.limiter.mode=off")
		.withBean(Chat.class);

	private static void change(AssertableApplicationContext context, String... changes) {
		Map<String, Object> values = new HashMap<>();
		for (String pair : changes) {
			values.put(pair.substring(0, pair.indexOf('=')), pair.substring(pair.indexOf('=') + 1));
		}
		context.getSourceApplicationContext()
			.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("changed", values));
		context.publishEvent(new EnvironmentChangeEvent(context, Set.copyOf(values.keySet())));
	}

	private static Providers providers(AssertableApplicationContext context) {
		return context.getBean(Providers.class);
	}

	private static int attempts(AssertableApplicationContext context, String provider) {
		AtomicInteger attempts = new AtomicInteger();
		assertThatExceptionOfType(HttpServerErrorException.class)
			.isThrownBy(() -> context.getBean(LlmResilience.class).call(provider, () -> {
				attempts.incrementAndGet();
				throw new HttpServerErrorException(HttpStatus.INTERNAL_SERVER_ERROR);
			}));
		return attempts.get();
	}

	/* What takes effect. */

	@Test
	void theRateChanges(CapturedOutput output) {
		this.runner.run((context) -> {
			change(context, P + "anthropic.limiter.requests-per-minute=60", P + "anthropic.limiter.burst=7");
			assertThat(providers(context).limiter("anthropic").requestsPerMinute()).isEqualTo(60);
			assertThat(providers(context).limiter("haiku").level()).isEqualTo(7);
			assertThat(output).containsOnlyOnce("Changed properties of providers have taken effect.");
		});
	}

	@Test
	void whatIsInheritedChangesTooAndHoldsForTheValuesOfAKey() {
		this.runner.run((context) -> {
			KeyedProvider before = Objects.requireNonNull(providers(context).keyed("off").lease("before"));
			change(context, P + "default.breaker.failure-threshold=3");
			assertThat(providers(context).breaker("anthropic").snapshot().failureThreshold()).isEqualTo(3);
			assertThat(threshold(before)).isEqualTo(3);
			KeyedProvider after = Objects.requireNonNull(providers(context).keyed("off").lease("after"));
			assertThat(threshold(after)).isEqualTo(3);
		});
	}

	private static int threshold(KeyedProvider keyed) {
		return Objects.requireNonNull(keyed.provider().breaker()).snapshot().failureThreshold();
	}

	@Test
	void theRetryPolicyChangesForCallsOfEveryKind() {
		this.runner.run((context) -> {
			Chat chat = context.getBean(Chat.class);
			assertThat(attempts(context, "anthropic")).isEqualTo(4);
			assertThatExceptionOfType(HttpServerErrorException.class).isThrownBy(chat::call);
			assertThat(chat.attempts()).isEqualTo(4);
			providers(context).breaker("anthropic").close();
			change(context, P + "anthropic.retry.max-attempts=2");
			assertThat(attempts(context, "anthropic")).isEqualTo(2);
			assertThatExceptionOfType(HttpServerErrorException.class).isThrownBy(chat::call);
			assertThat(chat.attempts()).isEqualTo(6);
			assertThat(context.getBean(LlmRetryMethods.class).all()).singleElement()
				.satisfies((method) -> assertThat(method.options().policy().maxAttempts()).isEqualTo(2));
		});
	}

	@Test
	void failoverChanges() {
		this.runner.run((context) -> {
			change(context, P + "anthropic.retry.failover=off");
			assertThat(context.getBean(LlmResilience.class)
				.call("anthropic", () -> answer(Objects.requireNonNull(LlmCall.current()).provider())))
				.isEqualTo("answer of off");
		});
	}

	private static String answer(String provider) {
		if (provider.equals("anthropic")) {
			throw new HttpServerErrorException(HttpStatus.INTERNAL_SERVER_ERROR);
		}
		return "answer of " + provider;
	}

	/* What is not lost. */

	@Test
	void whatTheBudgetHoldsStaysAsFarAsItFits() {
		this.runner.run((context) -> {
			attempts(context, "anthropic");
			double before = providers(context).budget("anthropic").tokens();
			change(context, P + "anthropic.budget.capacity=80");
			assertThat(providers(context).budget("anthropic").tokens()).isBetween(before, before + 1);
			change(context, P + "anthropic.budget.capacity=5");
			assertThat(providers(context).budget("anthropic").tokens()).isEqualTo(5);
		});
	}

	@Test
	void theFailuresThatABreakerHasCountedStay() {
		this.runner.run((context) -> {
			CircuitBreaker breaker = providers(context).breaker("anthropic");
			attempts(context, "anthropic");
			assertThat(breaker.snapshot().consecutiveFailures()).isEqualTo(4);
			change(context, P + "anthropic.breaker.failure-threshold=5");
			assertThat(breaker.state()).isEqualTo(BreakerState.CLOSED);
			Objects.requireNonNull(breaker.tryAcquire()).failure(FailureKind.SERVER_ERROR, 500, 0);
			assertThat(breaker.state()).isEqualTo(BreakerState.OPEN);
		});
	}

	@Test
	void aBreakerThatIsOpenStaysOpenAndALatchLatched() {
		this.runner.run((context) -> {
			providers(context).breaker("anthropic").forceOpen();
			providers(context).get("anthropic").quota().latch("daily", null);
			change(context, P + "anthropic.breaker.open-duration=1s", P + "anthropic.quota.cool-down=1m");
			assertThat(providers(context).breaker("anthropic").state()).isEqualTo(BreakerState.FORCED_OPEN);
			assertThat(providers(context).get("anthropic").quota().isLatched()).isTrue();
		});
	}

	@Test
	void aRateThatAnOperatorHasSetAndRetriesSwitchedOffStay() {
		this.runner.run((context) -> {
			providers(context).setRequestsPerMinute("anthropic", 33);
			providers(context).setRetries("anthropic", false);
			change(context, P + "anthropic.limiter.max-waiting=5", P + "anthropic.retry.max-attempts=9");
			assertThat(providers(context).limiter("anthropic").requestsPerMinute()).isEqualTo(33);
			assertThat(providers(context).limiter("anthropic").settings().maxWaiting()).isEqualTo(5);
			assertThat(attempts(context, "anthropic")).isEqualTo(1);
		});
	}

	/* What is refused. */

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = {
			"anthropic.retry.max-attempts=0 | anthropic.retry.max-attempts = 0: must be at least 1.",
			"anthropic.limiter.requests-per-minute=-1 | anthropic.limiter.requests-per-minute = -1.0: must be a number above 0, decimals allowed.",
			"anthropic.retry.failover=nobody | anthropic.retry.failover = nobody: must name other entries, each once: there are [default, haiku, off].",
			"anthropic.retry.jitter=wild | anthropic.retry.jitter = wild: must be one of [full, equal, decorrelated, proportional, none].",
			"anthropic.retry.base-delay=soon | anthropic.retry.base-delay = soon: must be a duration: a number and ns, us, ms, s, m, h or d, such as 500ms, 30s or 5m." })
	void oneValueThatCannotWorkRefusesAllAndIsOneMessage(String change, String reason, CapturedOutput output) {
		this.runner.run((context) -> {
			change(context, P + "anthropic.breaker.failure-threshold=3", P + change);
			assertThat(output).containsOnlyOnce(REFUSED + P + reason).doesNotContain("have taken effect");
			assertThat(providers(context).breaker("anthropic").snapshot().failureThreshold()).isEqualTo(10);
			assertThat(providers(context).limiter("anthropic").requestsPerMinute()).isEqualTo(6000);
			assertThat(attempts(context, "anthropic")).isEqualTo(4);
		});
	}

	@Test
	void onceItIsMendedTheChangeTakesEffect() {
		this.runner.run((context) -> {
			change(context, P + "anthropic.retry.max-attempts=0");
			change(context, P + "anthropic.retry.max-attempts=3");
			assertThat(attempts(context, "anthropic")).isEqualTo(3);
		});
	}

	/* What has to wait. */

	@Test
	void whatCannotChangeWhileRunningIsNamedAndTheRestTakesEffect(CapturedOutput output) {
		this.runner.run((context) -> {
			change(context, P + "anthropic.type=openai", P + "anthropic.limiter.mode=off",
					P + "anthropic.breaker.enabled=false", P + "anthropic.retry.on-open=wait",
					P + "anthropic.retry.max-attempts=2", P + "off.budget.enabled=true", P + "newcomer.type=xai");
			assertThat(output).containsOnlyOnce("Changed properties of providers have taken effect, but for ["
					+ "anthropic.breaker.enabled, anthropic.limiter.mode, anthropic.retry.on-open, anthropic.type, "
					+ "newcomer, off.budget.enabled], which do with the next start.");
			assertThat(providers(context).limiter("anthropic").settings().mode()).isEqualTo(LimiterMode.FIXED);
			assertThat(providers(context).find("newcomer")).isNull();
			assertThat(providers(context).get("off").budget()).isNull();
			assertThat(attempts(context, "anthropic")).isEqualTo(2);
		});
	}

	@Test
	void anEntryThatComesWithTheNextStartDoesNotTakeOverBefore(CapturedOutput output) {
		this.runner.run((context) -> {
			change(context, P + "newcomer.type=openai", P + "anthropic.retry.failover=newcomer");
			assertThat(attempts(context, "anthropic")).isEqualTo(4);
			assertThat(output).containsOnlyOnce("but for [anthropic.retry.failover, newcomer], which do");
		});
	}

	@Test
	void theRateForAnotherModeAndTheHostsOfAnotherTypeWaitForThose(CapturedOutput output) {
		this.runner.run((context) -> {
			change(context, P + "anthropic.limiter.mode=adaptive", P + "anthropic.limiter.requests-per-minute=60",
					P + "anthropic.type=openai");
			assertThat(providers(context).limiter("anthropic").requestsPerMinute()).isEqualTo(6000);
			assertThat(providers(context).get("anthropic").settings().hosts()).contains("api.anthropic.com");
			assertThat(output)
				.contains("but for [anthropic.limiter, anthropic.limiter.mode, anthropic.type], which do");
		});
	}

	/* When it happens. */

	@ParameterizedTest
	@ValueSource(strings = { "llm.resilience.providers.anthropic.retry.max-attempts",
			"LLM_RESILIENCE_PROVIDERS_ANTHROPIC_RETRY_MAXATTEMPTS",
			"llm.resilience.providers[anthropic].retry.maxAttempts" })
	void itIsToldOfAPropertyOfAProviderHoweverItIsSpelled(String key) {
		assertThat(ChangedProperties.isOfProvider(key)).isTrue();
	}

	@Test
	void changesOfOthersAreNothingToUs(CapturedOutput output) {
		this.runner.run((context) -> {
			change(context, "server.port=8081", "llm.resilience.max-keys=5");
			assertThat(output).doesNotContain("Changed properties");
		});
	}

	@Test
	void withoutProtectionNobodyListens() {
		this.runner.withPropertyValues("llm.resilience.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(PropertyChangesAutoConfiguration.class));
	}

	static class Chat {

		private final AtomicInteger attempts = new AtomicInteger();

		int attempts() {
			return this.attempts.get();
		}

		@LlmRetry("anthropic")
		void call() {
			this.attempts.incrementAndGet();
			throw new HttpServerErrorException(HttpStatus.INTERNAL_SERVER_ERROR);
		}

	}

}
