package dev.llmresilience.autoconfigure;

import java.net.ConnectException;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmResilience;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.limiter.RateLimiter;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LlmResilienceAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class))
		.withPropertyValues("llm.resilience.providers.anthropic.retry.base-delay=1ms");

	@Test
	void anAnnotatedMethodIsRetried() {
		this.runner.withUserConfiguration(Chats.class).run((context) -> {
			Chat chat = context.getBean(Chat.class);
			assertThat(chat.answer(2)).isEqualTo("answer 3");
			assertThat(chat.attempts()).hasValue(3);
		});
	}

	@Test
	void aCallThatFailsForGoodThrowsTheClientsOwnExceptionWithAReport() {
		this.runner.withUserConfiguration(Chats.class).run((context) -> {
			Chat chat = context.getBean(Chat.class);
			assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> chat.answer(9))
				.satisfies((ex) -> assertThat(LlmCallReport.find(ex)).isNotNull()
					.satisfies((report) -> assertThat(report.attempts()).hasSize(4)));
		});
	}

	@Test
	void theProgrammaticTwinAndTheGuardsAreBeans() {
		this.runner.withUserConfiguration(Chats.class).run((context) -> {
			assertThat(context.getBean(LlmResilience.class).call("anthropic", () -> 42)).isEqualTo(42);
			assertThat(context).hasBean("anthropicCircuitBreaker").hasBean("anthropicRetryBudget");
			assertThat(context.getBean(Guarded.class).breaker)
				.isSameAs(context.getBean("anthropicCircuitBreaker", CircuitBreaker.class));
		});
	}

	static class Chat {

		final AtomicInteger attempts = new AtomicInteger();

		@LlmRetry("anthropic")
		public String answer(int failures) throws ConnectException {
			if (this.attempts.incrementAndGet() <= failures) {
				throw new ConnectException("refused");
			}
			return "answer " + this.attempts;
		}

		public AtomicInteger attempts() {
			return this.attempts;
		}

	}

	record Guarded(CircuitBreaker breaker, RateLimiter limiter) {
	}

	@Configuration(proxyBeanMethods = false)
	static class Chats {

		@Bean
		Chat chat() {
			return new Chat();
		}

		@Bean
		Guarded guarded(@Qualifier("anthropic") CircuitBreaker breaker, @Qualifier("anthropic") RateLimiter limiter) {
			return new Guarded(breaker, limiter);
		}

	}

}
