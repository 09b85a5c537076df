package dev.llmresilience.autoconfigure;

import java.io.UncheckedIOException;
import java.net.ConnectException;

import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmResilience;
import dev.llmresilience.autoconfigure.OptionalLibrariesTests.Chat;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.limiter.RateLimiter;
import org.junit.jupiter.api.Test;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * {@code llm.resilience.enabled=false}: calls go out as they are, and nothing that an
 * application injects is missing.
 */
class SwitchedOffTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class,
				LlmBreakersEndpointAutoConfiguration.class, HttpHooksAutoConfiguration.class))
		.withPropertyValues("llm.resilience.enabled=false",
				"llm.resilience.providers.anthropic.breaker.failure-threshold=1",
				"management.endpoints.web.exposure.include=*");

	@Test
	void anAnnotatedMethodIsCalledOnce() {
		this.runner.withBean(Chat.class, Chat::new).run((context) -> {
			Chat chat = context.getBean(Chat.class);
			assertThat(AopUtils.isAopProxy(chat)).isFalse();
			assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(chat::call);
			assertThat(chat.attempts()).isEqualTo(1);
		});
	}

	@Test
	void theProgrammaticTwinPassesThrough() {
		this.runner.run((context) -> {
			LlmResilience resilience = context.getBean(LlmResilience.class);
			assertThat(resilience.call("anthropic", () -> 42)).isEqualTo(42);
			assertThat(resilience.call("anthropic", () -> LlmCall.current() == null)).isTrue();
			for (int i = 0; i < 3; i++) {
				assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> resilience.call("anthropic", () -> {
					throw new ConnectException("refused");
				})).satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
			}
			assertThat(context.getBean("anthropicCircuitBreaker", CircuitBreaker.class).state())
				.isEqualTo(BreakerState.CLOSED);
		});
	}

	@Test
	void aRateThatCannotBeSetIsRefusedAllTheSame() {
		this.runner.run((context) -> {
			LlmResilience resilience = context.getBean(LlmResilience.class);
			assertThatNoException().isThrownBy(() -> resilience.setRequestsPerMinute("anthropic", 60));
			assertThatIllegalArgumentException().isThrownBy(() -> resilience.setRequestsPerMinute("anthropic", 0));
			assertThatIllegalArgumentException().isThrownBy(() -> resilience.setRequestsPerMinute("openai", 60));
		});
	}

	@Test
	void whatIsInjectedIsStillThere() {
		this.runner.withUserConfiguration(Injected.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void anAnnotationThatCannotWorkDoesNotStopTheStart() {
		this.runner.withBean(StartFailureTests.UnknownProvider.class, StartFailureTests.UnknownProvider::new)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void theEndpointDoesNotPretendThatAnythingIsGuarded() {
		this.runner.run((context) -> assertThat(context).doesNotHaveBean("llmBreakersEndpoint"));
	}

	@Test
	void noClientIsHookedInto() {
		this.runner.run((context) -> assertThat(context).doesNotHaveBean("llmResponseLimits")
			.doesNotHaveBean("llmRestClientCustomizer")
			.doesNotHaveBean("llmAnthropicClientPostProcessor"));
	}

	record Uses(LlmResilience resilience, CircuitBreaker breaker, RateLimiter limiter) {
	}

	@Configuration(proxyBeanMethods = false)
	static class Injected {

		@Bean
		Uses uses(LlmResilience resilience, @Qualifier("anthropic") CircuitBreaker breaker,
				@Qualifier("anthropic") RateLimiter limiter) {
			return new Uses(resilience, breaker, limiter);
		}

	}

}
