package dev.llmresilience.autoconfigure;

import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import dev.llmresilience.LlmResilience;
import dev.llmresilience.LlmRetry;
import io.micrometer.context.ContextRegistry;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An application has what it needs and no more: each library that is optional may be
 * missing.
 */
class OptionalLibrariesTests {

	private static final String[] ACTUATOR = { "org.springframework.boot.actuate", "org.springframework.boot.health",
			"io.micrometer" };

	private static final String[] HEALTH = { "org.springframework.boot.health" };

	private static final String[] REACTOR = { "reactor", "org.reactivestreams" };

	private static final String[] REDIS = { "org.springframework.data", "io.lettuce" };

	private static final String[] WEB = { "org.springframework.web", "org.springframework.http", "jakarta.servlet" };

	private static final String[] SDKS = { "com.anthropic", "com.openai" };

	private static final String[] WEBFLUX = { "org.springframework.web.reactive" };

	private static final String[] BOOT_CLIENTS = { "org.springframework.boot.restclient",
			"org.springframework.boot.webclient" };

	private static final String[] BOOT_HTTP = { "org.springframework.boot.http" };

	private static final String[] APACHE_HTTP = { "org.apache.hc" };

	private static final String[] OKHTTP = { "okhttp3" };

	private static final String[] SPRING_AI = { "org.springframework.ai" };

	private static final String[] LANGCHAIN4J = { "dev.langchain4j" };

	private static final String[] TRANSACTIONS = { "org.springframework.transaction" };

	private static final String[] SPRING_CLOUD = { "org.springframework.cloud" };

	private static final String[] ASPECTJ = { "org.aspectj" };

	private static final String[] ALL = Stream
		.of(ACTUATOR, REACTOR, REDIS, WEB, WEBFLUX, BOOT_CLIENTS, BOOT_HTTP, APACHE_HTTP, OKHTTP, SPRING_AI,
				LANGCHAIN4J, SDKS, TRANSACTIONS, SPRING_CLOUD, ASPECTJ)
		.flatMap(Stream::of)
		.toArray(String[]::new);

	/**
	 * It looks for its services once, and must not do so while one of them is hidden
	 * whose entry is not.
	 */
	@BeforeAll
	static void loadWhatLoadsServices() {
		assertThat(ContextRegistry.getInstance()).isNotNull();
	}

	private static Stream<Arguments> missing() {
		return Stream.of(Arguments.of("Actuator", ACTUATOR), Arguments.of("Boot's health", HEALTH),
				Arguments.of("Reactor", REACTOR), Arguments.of("Redis", REDIS), Arguments.of("web", WEB),
				Arguments.of("WebFlux", WEBFLUX), Arguments.of("Boot's HTTP clients", BOOT_CLIENTS),
				Arguments.of("what makes them", BOOT_HTTP), Arguments.of("Apache's HTTP client", APACHE_HTTP),
				Arguments.of("OkHttp", OKHTTP), Arguments.of("Spring AI", SPRING_AI),
				Arguments.of("LangChain4j", LANGCHAIN4J), Arguments.of("any SDK", SDKS),
				Arguments.of("transactions", TRANSACTIONS), Arguments.of("Spring Cloud", SPRING_CLOUD),
				Arguments.of("AspectJ", ASPECTJ), Arguments.of("all of them", ALL));
	}

	@ParameterizedTest(name = "without {0}")
	@MethodSource("missing")
	void anApplicationStartsAndItsCallsAreProtected(String name, String[] packages) {
		new ApplicationContextRunner().withClassLoader(new FilteredClassLoader(packages))
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class,
					LlmBreakersEndpointAutoConfiguration.class, LlmProvidersEndpointAutoConfiguration.class,
					LlmBreakersHealthAutoConfiguration.class, ProblemDetailsAutoConfiguration.class,
					PropertyChangesAutoConfiguration.class, HttpHooksAutoConfiguration.class,
					RetryLayersAutoConfiguration.class, ToolsAutoConfiguration.class))
			.withPropertyValues("llm.resilience.web.problem-details=true",
					"llm.resilience.providers.default.retry.base-delay=1ms",
					"management.endpoints.web.exposure.include=*")
			.withBean("chat", Chat.class, Chat::new)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				Chat chat = context.getBean(Chat.class);
				assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(chat::call);
				assertThat(chat.attempts()).isEqualTo(4);
				assertThat(context.getBean(LlmResilience.class).call("default", () -> 42)).isEqualTo(42);
			});
	}

	/**
	 * A filtered context class loader does not keep a class from being found by the
	 * loader of the class that names it, so this one loads the library anew.
	 */
	@Test
	void noClassOfTheLibraryNeedsAnOptionalOneToLoad() throws Exception {
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		try (HidingClassLoader loader = new HidingClassLoader(ALL)) {
			Thread.currentThread().setContextClassLoader(loader);
			Class<?> application = loader.loadClass(BareApplication.class.getName());
			assertThat(application.getClassLoader()).isSameAs(loader);
			assertThat(application.getMethod("attempts").invoke(null)).isEqualTo(4);
		}
		finally {
			Thread.currentThread().setContextClassLoader(before);
		}
	}

	/** Public, so that a proxy made by another class loader can extend it. */
	public static class Chat {

		private final AtomicInteger attempts = new AtomicInteger();

		@LlmRetry
		public void call() {
			this.attempts.incrementAndGet();
			throw new UncheckedIOException(new ConnectException("refused"));
		}

		public int attempts() {
			return this.attempts.get();
		}

	}

}
