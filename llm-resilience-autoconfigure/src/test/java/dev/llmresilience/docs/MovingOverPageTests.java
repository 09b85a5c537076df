package dev.llmresilience.docs;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.docs.ProviderOnThisMachine.Reply;
import dev.llmresilience.failure.DefaultFailureClassifier;
import dev.llmresilience.failure.FailureContext;
import dev.llmresilience.failure.ProviderType;
import dev.llmresilience.test.VirtualTime;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.common.bulkhead.configuration.CommonBulkheadConfigurationProperties;
import io.github.resilience4j.common.circuitbreaker.configuration.CommonCircuitBreakerConfigurationProperties;
import io.github.resilience4j.common.ratelimiter.configuration.CommonRateLimiterConfigurationProperties;
import io.github.resilience4j.common.retry.configuration.CommonRetryConfigurationProperties;
import io.github.resilience4j.common.timelimiter.configuration.CommonTimeLimiterConfigurationProperties;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.github.resilience4j.ratelimiter.RequestNotPermitted;
import io.github.resilience4j.retry.RetryConfig;
import io.github.resilience4j.timelimiter.TimeLimiterConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatus;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.retry.annotation.Backoff;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.client.HttpServerErrorException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The page on moving over: names and defaults are those of the libraries, and what it
 * says of them is tried.
 */
class MovingOverPageTests {

	private static final Page PAGE = Page.of("moving-over.md");

	private static final Map<String, Class<?>> RESILIENCE4J = Map.of("retry",
			CommonRetryConfigurationProperties.InstanceProperties.class, "circuitbreaker",
			CommonCircuitBreakerConfigurationProperties.InstanceProperties.class, "ratelimiter",
			CommonRateLimiterConfigurationProperties.InstanceProperties.class, "timelimiter",
			CommonTimeLimiterConfigurationProperties.InstanceProperties.class, "bulkhead",
			CommonBulkheadConfigurationProperties.InstanceProperties.class);

	private static final List<String> TABLES = List.of("resilience4j retry", "resilience4j circuitbreaker",
			"resilience4j ratelimiter", "resilience4j timelimiter", "resilience4j bulkhead", "spring-retry Retryable",
			"spring-retry Backoff", "spring Retryable", "spring-ai");

	/* Names and defaults. */

	static Stream<String> resilience4j() {
		return TABLES.stream()
			.filter((table) -> table.startsWith("resilience4j "))
			.map((table) -> table.substring("resilience4j ".length()));
	}

	@ParameterizedTest
	@MethodSource("resilience4j")
	void aPropertyOfResilience4jExists(String group) {
		Set<String> known = Arrays.stream(Objects.requireNonNull(RESILIENCE4J.get(group)).getMethods())
			.map(Method::getName)
			.filter((name) -> name.startsWith("set"))
			.map((name) -> DataObjectPropertyName
				.toDashedForm(Character.toLowerCase(name.charAt(3)) + name.substring(4)))
			.collect(Collectors.toSet());
		assertThat(known).containsAll(there("resilience4j " + group).keySet());
	}

	@Test
	void theDefaultsOfResilience4jAreThoseOfThePage() {
		CircuitBreakerConfig breaker = CircuitBreakerConfig.ofDefaults();
		RateLimiterConfig limiter = RateLimiterConfig.ofDefaults();
		assertThat(defaults("resilience4j retry")).isEqualTo(Map.of("max-attempts",
				"" + RetryConfig.DEFAULT_MAX_ATTEMPTS, "wait-duration", RetryConfig.DEFAULT_WAIT_DURATION + "ms"));
		assertThat(defaults("resilience4j circuitbreaker")).isEqualTo(Map.of("failure-rate-threshold",
				"" + (int) breaker.getFailureRateThreshold(), "sliding-window-size",
				"" + breaker.getSlidingWindowSize(), "slow-call-duration-threshold",
				breaker.getSlowCallDurationThreshold().toSeconds() + "s", "wait-duration-in-open-state",
				Duration.ofMillis(breaker.getWaitIntervalFunctionInOpenState().apply(1)).toSeconds() + "s",
				"permitted-number-of-calls-in-half-open-state", "" + breaker.getPermittedNumberOfCallsInHalfOpenState(),
				"max-wait-duration-in-half-open-state", breaker.getMaxWaitDurationInHalfOpenState().toSeconds() + "s"));
		assertThat(defaults("resilience4j ratelimiter"))
			.isEqualTo(Map.of("limit-for-period", "" + limiter.getLimitForPeriod(), "limit-refresh-period",
					limiter.getLimitRefreshPeriod().toNanos() + "ns", "timeout-duration",
					limiter.getTimeoutDuration().toSeconds() + "s"));
		assertThat(defaults("resilience4j timelimiter"))
			.isEqualTo(Map.of("timeout-duration", TimeLimiterConfig.ofDefaults().getTimeoutDuration().toSeconds() + "s",
					"cancel-running-future", "" + TimeLimiterConfig.ofDefaults().shouldCancelRunningFuture()));
		assertThat(defaults("resilience4j bulkhead"))
			.isEqualTo(Map.of("max-concurrent-calls", "" + BulkheadConfig.ofDefaults().getMaxConcurrentCalls(),
					"max-wait-duration", BulkheadConfig.ofDefaults().getMaxWaitDuration().toSeconds() + "s"));
	}

	@Test
	void attributesOfTheAnnotationsExistAndHaveTheDefaultsOfThePage() {
		checkAttributes("spring-retry Retryable", org.springframework.retry.annotation.Retryable.class);
		checkAttributes("spring-retry Backoff", Backoff.class);
		checkAttributes("spring Retryable", Retryable.class);
	}

	private static void checkAttributes(String table, Class<? extends Annotation> annotation) {
		assertThat(there(table)).isNotEmpty().allSatisfy((name, value) -> {
			Method attribute = Objects.requireNonNull(ReflectionUtils.findMethod(annotation, name));
			if (!value.isEmpty()) {
				assertThat(value).isEqualTo(String.valueOf(attribute.getDefaultValue()));
			}
		});
	}

	@Test
	void propertiesOfSpringAiExistAndHaveTheDefaultsOfThePage() {
		Map<String, String> known = new HashMap<>();
		metadata().forEach(
				(property) -> known.put(property.path("name").asString(), property.path("defaultValue").asString("")));
		assertThat(known).containsAllEntriesOf(there("spring-ai"));
	}

	static Stream<List<String>> rows() {
		return TABLES.stream().flatMap((table) -> PAGE.rows(table).stream());
	}

	@ParameterizedTest
	@MethodSource("rows")
	void whatItBecomesHereExistsAndHasTheDefaultOfThePage(List<String> row) {
		String here = row.get(2).replace("`", "");
		if (here.contains(".")) {
			JsonNode property = metadata().stream()
				.filter((candidate) -> candidate.path("name")
					.asString()
					.equals("llm.resilience.providers.default." + here))
				.findFirst()
				.orElseThrow();
			assertThat(row.get(3)).isEqualTo(property.path("defaultValue").asString("–"));
		}
		else if (!here.isEmpty()) {
			Method attribute = Objects.requireNonNull(ReflectionUtils.findMethod(LlmRetry.class, here));
			assertThat(row.get(3)).isIn("", String.valueOf(attribute.getDefaultValue()));
		}
	}

	static Stream<String> otherProperties() {
		return rows().flatMap((row) -> Pattern.compile("`((?:retry|breaker|limiter)\\.[a-z-]+)`")
			.matcher(row.get(4))
			.results()
			.map((found) -> found.group(1)));
	}

	@ParameterizedTest
	@MethodSource("otherProperties")
	void aPropertyThatTheTextNamesExists(String name) {
		assertThat(metadata()).extracting((property) -> property.path("name").asString())
			.contains("llm.resilience.providers.default." + name);
	}

	static List<String> examples() {
		return PAGE.blocks("java");
	}

	@ParameterizedTest
	@MethodSource("examples")
	void eachExampleIsCompiled(String example) {
		assertThat(Page.source("MovingOverPageExamples.java")).contains(Page.plain(example));
	}

	/* What it says of others. */

	@ParameterizedTest
	@ValueSource(ints = { 1, 3 })
	void aModelOfLangChain4jSendsThreeRequestsUnlessItIsToldNotTo(int requests) {
		try (ProviderOnThisMachine provider = new ProviderOnThisMachine(new Reply(500, Map.of(), "{}"))) {
			ChatModel model = (requests == 1) ? new MovingOverPageExamples().chatModel(provider.url(), "key")
					: OpenAiChatModel.builder().baseUrl(provider.url()).apiKey("key").modelName("x").build();
			assertThat(catchThrowable(() -> model.chat("hello"))).isNotNull();
			assertThat(provider.requests()).isEqualTo(requests);
		}
	}

	@Test
	void springsRetryableSeesNoFailureOfAFutureRepeatsElementsAndWrapsWhatAMonoFailedWith() {
		new ApplicationContextRunner().withUserConfiguration(Resilient.class).withBean(Retried.class).run((context) -> {
			Retried retried = context.getBean(Retried.class);
			assertThat(retried.future()).isCompletedExceptionally();
			assertThat(retried.attempts()).isEqualTo(1);
			List<Integer> seen = new ArrayList<>();
			assertThat(catchThrowable(() -> retried.flux().doOnNext(seen::add).blockLast())).isNotNull();
			assertThat(seen).startsWith(1, 2, 1, 2);
			assertThat(catchThrowable(() -> retried.mono().block())).isNotInstanceOf(HttpServerErrorException.class)
				.hasRootCauseInstanceOf(HttpServerErrorException.class);
		});
	}

	@Test
	void theOthersStandWithin() {
		int ours = Ordered.LOWEST_PRECEDENCE - 100;
		assertThat(order(EnableRetry.class)).isGreaterThan(ours);
		assertThat(order(EnableResilientMethods.class)).isGreaterThan(ours);
		assertThat(
				new io.github.resilience4j.spring6.retry.configure.RetryConfigurationProperties().getRetryAspectOrder())
			.isGreaterThan(ours);
		assertThat(new io.github.resilience4j.spring6.circuitbreaker.configure.CircuitBreakerConfigurationProperties()
			.getCircuitBreakerAspectOrder()).isGreaterThan(ours);
		assertThat(new io.github.resilience4j.spring6.ratelimiter.configure.RateLimiterConfigurationProperties()
			.getRateLimiterAspectOrder()).isGreaterThan(ours);
	}

	private static int order(Class<? extends Annotation> annotation) {
		return (int) Objects
			.requireNonNull(Objects.requireNonNull(ReflectionUtils.findMethod(annotation, "order")).getDefaultValue());
	}

	@Test
	void whatAnOldBreakerOrLimiterThrowsIsAnExceptionOfYourOwn() {
		assertThat(kind(CallNotPermittedException
			.createCallNotPermittedException(io.github.resilience4j.circuitbreaker.CircuitBreaker.ofDefaults("old"))))
			.isEqualTo(FailureKind.APPLICATION);
		assertThat(kind(RequestNotPermitted
			.createRequestNotPermitted(io.github.resilience4j.ratelimiter.RateLimiter.ofDefaults("old"))))
			.isEqualTo(FailureKind.APPLICATION);
	}

	@Test
	void causesAreLookedAtAndAreNeeded() {
		HttpServerErrorException failure = new HttpServerErrorException(HttpStatus.SERVICE_UNAVAILABLE);
		assertThat(kind(new IllegalStateException(failure))).isEqualTo(FailureKind.OVERLOADED);
		assertThat(kind(new IllegalStateException(failure.getMessage()))).isEqualTo(FailureKind.APPLICATION);
	}

	private static FailureKind kind(Throwable thrown) {
		return new DefaultFailureClassifier()
			.classify(thrown, new FailureContext(ProviderType.ANTHROPIC, VirtualTime.DEFAULT_START, false))
			.kind();
	}

	@Test
	void theFallbackMethodOfResilience4jFits() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class))
			.withPropertyValues("llm.resilience.providers.anthropic.retry.base-delay=1ms")
			.withBean(MovingOverPageExamples.After.class)
			.run((context) -> assertThat(context.getBean(MovingOverPageExamples.After.class).summarise("text"))
				.isEqualTo("t"));
	}

	private static Map<String, String> there(String table) {
		return PAGE.rows(table)
			.stream()
			.collect(Collectors.toMap((row) -> row.get(0).replace("`", ""), (row) -> row.get(1)));
	}

	private static Map<String, String> defaults(String table) {
		Map<String, String> defaults = new HashMap<>(there(table));
		defaults.values().removeIf(String::isEmpty);
		return defaults;
	}

	/** Of all libraries, and of this one as it was compiled last. */
	private static List<JsonNode> metadata() {
		List<JsonNode> properties = new ArrayList<>();
		try {
			for (URL url : Collections.list(MovingOverPageTests.class.getClassLoader()
				.getResources("META-INF/spring-configuration-metadata.json"))) {
				try (InputStream in = url.openStream()) {
					JsonMapper.shared().readTree(in).path("properties").forEach(properties::add);
				}
			}
			try (InputStream in = Files
				.newInputStream(Path.of("target/classes/META-INF/spring-configuration-metadata.json"))) {
				JsonMapper.shared().readTree(in).path("properties").forEach(properties::add);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return properties;
	}

	@EnableResilientMethods(proxyTargetClass = true)
	static class Resilient {

	}

	static class Retried {

		private final AtomicInteger attempts = new AtomicInteger();

		public int attempts() {
			return this.attempts.get();
		}

		@Retryable(delay = 1)
		public CompletableFuture<String> future() {
			this.attempts.incrementAndGet();
			return CompletableFuture.failedFuture(new HttpServerErrorException(HttpStatus.BAD_GATEWAY));
		}

		@Retryable(delay = 1)
		public Flux<Integer> flux() {
			return Flux.concat(Flux.just(1, 2), Flux.error(new HttpServerErrorException(HttpStatus.BAD_GATEWAY)));
		}

		@Retryable(delay = 1)
		public Mono<String> mono() {
			return Mono.error(new HttpServerErrorException(HttpStatus.BAD_GATEWAY));
		}

	}

}
