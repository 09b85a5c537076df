package dev.llmresilience.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.net.ConnectException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import dev.llmresilience.LlmRetry;
import io.github.resilience4j.retry.annotation.Retry;
import io.github.resilience4j.springboot.retry.autoconfigure.RetryAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.retry.annotation.Backoff;
import org.springframework.retry.annotation.EnableRetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Annotations of others on protected methods.
 */
@ExtendWith(OutputCaptureExtension.class)
class AnnotationLayersTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class,
				RetryLayersAutoConfiguration.class))
		.withPropertyValues("llm.resilience.providers.anthropic.retry.max-attempts=4",
				"llm.resilience.providers.anthropic.retry.rate-limit-retries=0",
				"llm.resilience.providers.anthropic.retry.base-delay=1ms",
				"llm.resilience.providers.anthropic.budget.enabled=false",
				"llm.resilience.providers.anthropic.breaker.enabled=false", "retries=2",
				"resilience4j.retry.configs.default.wait-duration=1ms",
				"resilience4j.retry.configs.often.wait-duration=1ms", "resilience4j.retry.configs.often.max-attempts=5",
				"resilience4j.retry.instances.often.base-config=often",
				"resilience4j.retry.instances.twice.base-config=often",
				"resilience4j.retry.instances.twice.max-attempts=2");

	static Stream<Arguments> chats() {
		return Stream.of(Arguments.of(SpringDefault.class, "Retryable", 4, 16),
				Arguments.of(SpringNumber.class, "Retryable", 2, 8),
				Arguments.of(SpringProperty.class, "Retryable", 3, 12),
				Arguments.of(SpringOnClass.class, "Retryable", 3, 12),
				Arguments.of(SpringComposed.class, "Retryable", 3, 12),
				Arguments.of(SpringRetryDefault.class, "Retryable", 3, 12),
				Arguments.of(SpringRetryProperty.class, "Retryable", 2, 8),
				Arguments.of(Resilience4jDefault.class, "Retry", 3, 12),
				Arguments.of(Resilience4jConfig.class, "Retry", 5, 20),
				Arguments.of(Resilience4jInstance.class, "Retry", 2, 8),
				Arguments.of(OwnNumber.class, "Retryable", 3, 6));
	}

	@ParameterizedTest(name = "{0} -> {3}")
	@MethodSource("chats")
	void theMethodRunsAsOftenAsTheLineSays(Class<? extends Chat> type, String annotation, int tries, int requests,
			CapturedOutput output) {
		with(type).withUserConfiguration(Enabled.class).run((context) -> {
			Chat chat = context.getBean(Chat.class);
			assertThatException().isThrownBy(chat::ask);
			assertThat(chat.runs()).isEqualTo(requests);
			String method = type.getName() + ".ask";
			assertThat(context.getBean(RetryLayers.class).found())
				.containsExactly(new RetryLayer(RetryLayer.Kind.ANNOTATION, method, tries, "anthropic", requests));
			assertThat(RetryLayersTests.lines(output)).singleElement()
				.asString()
				.contains("@" + annotation + " on " + method, " " + requests + " requests ")
				.endsWith("Remove one of the two annotations.");
		});
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("chats")
	void anAnnotationThatNothingActsOnIsNoLayer(Class<? extends Chat> type) {
		with(type).run((context) -> assertThat(context.getBean(RetryLayers.class).found()).isEmpty());
	}

	@Test
	void anAnnotationOnAMethodThatIsNotProtectedIsNoLayer() {
		with(Unprotected.class).withUserConfiguration(Enabled.class)
			.run((context) -> assertThat(context.getBean(RetryLayers.class).found()).isEmpty());
	}

	private ApplicationContextRunner with(Class<? extends Chat> type) {
		return this.runner.withInitializer((context) -> {
			if (context instanceof org.springframework.context.support.GenericApplicationContext registry) {
				registry.registerBean("chat", type);
			}
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods
	@EnableRetry
	@Import(RetryAutoConfiguration.class)
	static class Enabled {

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@Retryable(maxRetries = 2, delay = 0)
	@interface Often {

	}

	abstract static class Chat {

		private final AtomicInteger runs = new AtomicInteger();

		public abstract String ask() throws Exception;

		public int runs() {
			return this.runs.get();
		}

		String fail() throws ConnectException {
			this.runs.incrementAndGet();
			throw new ConnectException("refused");
		}

	}

	static class SpringDefault extends Chat {

		@Override
		@LlmRetry("anthropic")
		@Retryable(delay = 0)
		public String ask() throws Exception {
			return fail();
		}

	}

	static class SpringNumber extends Chat {

		@Override
		@LlmRetry("anthropic")
		@Retryable(maxRetries = 1, delay = 0)
		public String ask() throws Exception {
			return fail();
		}

	}

	static class SpringProperty extends Chat {

		@Override
		@LlmRetry("anthropic")
		@Retryable(maxRetriesString = "${retries}", delay = 0)
		public String ask() throws Exception {
			return fail();
		}

	}

	@Retryable(maxRetries = 2, delay = 0)
	static class SpringOnClass extends Chat {

		@Override
		@LlmRetry("anthropic")
		public String ask() throws Exception {
			return fail();
		}

	}

	static class SpringComposed extends Chat {

		@Override
		@LlmRetry("anthropic")
		@Often
		public String ask() throws Exception {
			return fail();
		}

	}

	static class SpringRetryDefault extends Chat {

		@Override
		@LlmRetry("anthropic")
		@org.springframework.retry.annotation.Retryable(backoff = @Backoff(1))
		public String ask() throws Exception {
			return fail();
		}

	}

	static class SpringRetryProperty extends Chat {

		@Override
		@LlmRetry("anthropic")
		@org.springframework.retry.annotation.Retryable(maxAttemptsExpression = "${retries}", backoff = @Backoff(1))
		public String ask() throws Exception {
			return fail();
		}

	}

	static class Resilience4jDefault extends Chat {

		@Override
		@LlmRetry("anthropic")
		@Retry(name = "unknown")
		public String ask() throws Exception {
			return fail();
		}

	}

	static class Resilience4jConfig extends Chat {

		@Override
		@LlmRetry("anthropic")
		@Retry(name = "often")
		public String ask() throws Exception {
			return fail();
		}

	}

	static class Resilience4jInstance extends Chat {

		@Override
		@LlmRetry("anthropic")
		@Retry(name = "twice")
		public String ask() throws Exception {
			return fail();
		}

	}

	static class OwnNumber extends Chat {

		@Override
		@LlmRetry(provider = "anthropic", maxAttempts = 2)
		@Retryable(maxRetries = 2, delay = 0)
		public String ask() throws Exception {
			return fail();
		}

	}

	static class Unprotected extends Chat {

		@Override
		@Retryable(delay = 0)
		public String ask() throws Exception {
			return fail();
		}

	}

}
