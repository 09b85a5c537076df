package dev.llmresilience.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeoutException;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmFailure.LatchScope;
import dev.llmresilience.LlmResilience;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.breaker.BreakerTransition;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.breaker.QuotaTransition;
import dev.llmresilience.budget.RetryBudget;
import dev.llmresilience.engine.Providers;
import dev.llmresilience.failure.DefaultFailureClassifier;
import dev.llmresilience.failure.FailureClassifier;
import dev.llmresilience.limiter.RateLimiter;
import dev.llmresilience.test.VirtualTime;
import dev.llmresilience.time.SystemTimeSource;
import dev.llmresilience.time.TimeSource;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.core.annotation.Order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The beans, those that the application brings instead, and what the guards announce.
 */
@ExtendWith(OutputCaptureExtension.class)
class BeansTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class))
		.withPropertyValues("llm.resilience.providers.anthropic.retry.max-attempts=1",
				"llm.resilience.providers.anthropic.breaker.failure-threshold=2",
				"llm.resilience.providers.azure-openai.retry.max-attempts=1");

	@Test
	void eachGuardOfEachProviderIsABeanUnderItsQualifier() {
		this.runner.withUserConfiguration(Injected.class).run((context) -> {
			Providers providers = context.getBean(Providers.class);
			Guards guards = context.getBean(Guards.class);
			assertThat(guards.breaker()).isSameAs(providers.breaker("anthropic"));
			assertThat(guards.limiter()).isSameAs(providers.limiter("azure-openai"));
			assertThat(guards.budget()).isSameAs(providers.budget("default"));
			assertThat(context.getBeansOfType(CircuitBreaker.class)).containsOnlyKeys("defaultCircuitBreaker",
					"anthropicCircuitBreaker", "azure-openaiCircuitBreaker");
			assertThat(context.getBeansOfType(RateLimiter.class)).hasSize(3);
			assertThat(context.getBeansOfType(RetryBudget.class)).hasSize(3);
		});
	}

	@Test
	void aGuardThatIsSwitchedOffIsNoBean() {
		this.runner
			.withPropertyValues("llm.resilience.providers.default.breaker.enabled=false",
					"llm.resilience.providers.anthropic.breaker.enabled=true",
					"llm.resilience.providers.azure-openai.budget.enabled=false")
			.run((context) -> {
				assertThat(context.getBeansOfType(CircuitBreaker.class)).containsOnlyKeys("anthropicCircuitBreaker");
				assertThat(context.getBeansOfType(RetryBudget.class)).containsOnlyKeys("defaultRetryBudget",
						"anthropicRetryBudget");
			});
	}

	@Test
	void aBeanOfTheApplicationKeepsItsName() {
		this.runner.withBean("anthropicRateLimiter", String.class, () -> "mine").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean("anthropicRateLimiter")).isEqualTo("mine");
		});
	}

	@Test
	void theApplicationsTimeSourceWins() {
		VirtualTime time = new VirtualTime(1);
		this.runner.withBean("time", VirtualTime.class, () -> time).run((context) -> {
			assertThat(context).doesNotHaveBean(SystemTimeSource.class).getBean(TimeSource.class).isSameAs(time);
			fail(context.getBean(LlmResilience.class), 2);
			assertThat(context.getBean("anthropicCircuitBreaker", CircuitBreaker.class).snapshot().openedAt())
				.isEqualTo(VirtualTime.DEFAULT_START);
		});
	}

	@Test
	void theApplicationsLlmResilienceWins() {
		LlmResilience mine = Mockito.mock(LlmResilience.class);
		this.runner.withBean("mine", LlmResilience.class, () -> mine)
			.run((context) -> assertThat(context).getBean(LlmResilience.class).isSameAs(mine));
	}

	@Test
	void theApplicationsDefaultFailureClassifierWins() {
		DefaultFailureClassifier mine = new DefaultFailureClassifier();
		this.runner.withBean("mine", DefaultFailureClassifier.class, () -> mine)
			.run((context) -> assertThat(context).getBean(DefaultFailureClassifier.class).isSameAs(mine));
	}

	@Test
	void theApplicationsFailureClassifiersAreAskedFirstInTheirOrder() {
		this.runner.withUserConfiguration(Classifiers.class).run((context) -> {
			LlmResilience resilience = context.getBean(LlmResilience.class);
			assertThat(kindOf(resilience, new IllegalStateException("first"))).isEqualTo(FailureKind.CONFLICT);
			assertThat(kindOf(resilience, new IllegalStateException("second"))).isEqualTo(FailureKind.TOO_LARGE);
			assertThat(kindOf(resilience, new TimeoutException())).isEqualTo(FailureKind.TIMEOUT);
		});
	}

	@Test
	void eachTransitionOfABreakerIsOneWarningAndOneEvent(CapturedOutput output) {
		VirtualTime time = new VirtualTime(1);
		this.runner.withBean("time", VirtualTime.class, () -> time)
			.withBean(Events.class, Events::new)
			.run((context) -> {
				Events events = context.getBean(Events.class);
				LlmResilience resilience = context.getBean(LlmResilience.class);
				fail(resilience, 2);
				assertThat(states(events)).containsExactly("CLOSED -> OPEN");
				time.runFor(Duration.ofSeconds(40));
				resilience.call("anthropic", () -> 42);
				assertThat(states(events)).containsExactly("CLOSED -> OPEN", "OPEN -> HALF_OPEN",
						"HALF_OPEN -> CLOSED");
				assertThat(events.breakers.get(0).provider()).isEqualTo("anthropic");
				assertThat(warnings(output)).hasSize(3)
					.first()
					.asString()
					.contains(
							"Circuit breaker of 'anthropic': CLOSED -> OPEN, last failure TIMEOUT, next trial call at "
									+ "2026-10-01T00:00:3");
				assertThat(warnings(output).get(1)).endsWith("Circuit breaker of 'anthropic': OPEN -> HALF_OPEN");
				assertThat(warnings(output).get(2)).endsWith("Circuit breaker of 'anthropic': HALF_OPEN -> CLOSED");
			});
	}

	@Test
	void whatAnOperatorDoesIsAnnouncedToo(CapturedOutput output) {
		this.runner.withBean(Events.class, Events::new).run((context) -> {
			CircuitBreaker breaker = context.getBean("anthropicCircuitBreaker", CircuitBreaker.class);
			breaker.forceOpen();
			breaker.forceOpen();
			breaker.close();
			assertThat(states(context.getBean(Events.class))).containsExactly("CLOSED -> FORCED_OPEN",
					"FORCED_OPEN -> CLOSED");
			assertThat(warnings(output)).hasSize(2);
		});
	}

	@Test
	void eachTransitionOfALatchIsOneWarningAndOneEvent(CapturedOutput output) {
		VirtualTime time = new VirtualTime(1);
		this.runner.withBean("time", VirtualTime.class, () -> time)
			.withBean(Events.class, Events::new)
			.withUserConfiguration(SpendCap.class)
			.withPropertyValues("llm.resilience.providers.anthropic.account=team")
			.run((context) -> {
				Events events = context.getBean(Events.class);
				LlmResilience resilience = context.getBean(LlmResilience.class);
				fail(resilience, 3);
				assertThat(events.quotas).singleElement().satisfies((event) -> {
					assertThat(event.scope()).isEqualTo("team");
					assertThat(event.latched()).isTrue();
					assertThat(event.code()).isEqualTo("spend_cap");
				});
				time.runFor(Duration.ofMinutes(6));
				resilience.call("anthropic", () -> 42);
				assertThat(events.quotas).extracting(QuotaTransition::latched).containsExactly(true, false);
				assertThat(warnings(output)).hasSize(2)
					.first()
					.asString()
					.contains("Quota of 'team' is exhausted (spend_cap): calls are refused, next probe at "
							+ "2026-10-01T00:05:00Z, the provider named 2026-11-01T00:00:00Z for its return");
				assertThat(warnings(output).get(1)).endsWith("Quota of 'team' is back: calls pass again");
			});
	}

	@Test
	void aListenerThatFailsDoesNotFailTheCall(CapturedOutput output) {
		this.runner.withBean(FailingListener.class, FailingListener::new).run((context) -> {
			fail(context.getBean(LlmResilience.class), 2);
			assertThat(context.getBean("anthropicCircuitBreaker", CircuitBreaker.class).state())
				.isEqualTo(BreakerState.OPEN);
			assertThat(output).contains("A listener failed on BreakerTransition");
		});
	}

	private static void fail(LlmResilience resilience, int times) {
		for (int i = 0; i < times; i++) {
			assertThatExceptionOfType(Exception.class).isThrownBy(() -> resilience.call("anthropic", () -> {
				throw new TimeoutException("too slow");
			}));
		}
	}

	private static FailureKind kindOf(LlmResilience resilience, Exception thrown) {
		try {
			resilience.call("azure-openai", () -> {
				throw thrown;
			});
		}
		catch (Exception ex) {
			LlmCallReport report = LlmCallReport.find(ex);
			assertThat(report).isNotNull();
			if (report != null) {
				return Objects.requireNonNull(report.attempts().get(0).kind());
			}
		}
		throw new AssertionError("No report");
	}

	private static List<String> states(Events events) {
		return events.breakers.stream().map((event) -> event.from() + " -> " + event.to()).toList();
	}

	private static List<String> warnings(CapturedOutput output) {
		return output.getOut().lines().filter((line) -> line.contains("WARN") && line.contains("guards")).toList();
	}

	record Guards(CircuitBreaker breaker, RateLimiter limiter, RetryBudget budget) {
	}

	@Configuration(proxyBeanMethods = false)
	static class Injected {

		@Bean
		Guards guards(@Qualifier("anthropic") CircuitBreaker breaker, @Qualifier("azure-openai") RateLimiter limiter,
				@Qualifier("default") RetryBudget budget) {
			return new Guards(breaker, limiter, budget);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Classifiers {

		@Bean
		@Order(2)
		FailureClassifier second() {
			return (thrown, context) -> (thrown instanceof IllegalStateException) ? LlmFailure.of(FailureKind.TOO_LARGE)
					: null;
		}

		@Bean
		@Order(1)
		FailureClassifier first() {
			return (thrown, context) -> "first".equals(thrown.getMessage()) ? LlmFailure.of(FailureKind.CONFLICT)
					: null;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SpendCap {

		@Bean
		FailureClassifier spendCap() {
			return (thrown, context) -> LlmFailure.of(FailureKind.QUOTA_EXHAUSTED)
				.withCode("spend_cap")
				.withLatch(LatchScope.ACCOUNT, Instant.parse("2026-11-01T00:00:00Z"));
		}

	}

	static class Events {

		final List<BreakerTransition> breakers = new ArrayList<>();

		final List<QuotaTransition> quotas = new ArrayList<>();

		@EventListener
		void on(BreakerTransition event) {
			this.breakers.add(event);
		}

		@EventListener
		void on(QuotaTransition event) {
			this.quotas.add(event);
		}

	}

	static class FailingListener {

		@EventListener
		void on(BreakerTransition event) {
			throw new IllegalStateException("listener");
		}

	}

}
