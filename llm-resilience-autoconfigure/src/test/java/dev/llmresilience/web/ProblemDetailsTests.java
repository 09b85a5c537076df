package dev.llmresilience.web;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import com.jayway.jsonpath.JsonPath;
import dev.llmresilience.CircuitOpenException;
import dev.llmresilience.DeadlineExceededException;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.QuotaExhaustedException;
import dev.llmresilience.RateLimitWaitException;
import dev.llmresilience.ShutdownException;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.autoconfigure.ProblemDetailsAutoConfiguration;
import dev.llmresilience.test.SettableTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.tomcat.autoconfigure.servlet.TomcatServletWebServerAutoConfiguration;
import org.springframework.boot.web.server.servlet.context.AnnotationConfigServletWebServerApplicationContext;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Refusals as the callers of an application meet them: over HTTP, from Spring MVC and
 * from WebFlux, which must not differ.
 */
class ProblemDetailsTests {

	private static final String ON = "llm.resilience.web.problem-details=true";

	private static final Instant NOW = new SettableTime().now();

	@ParameterizedTest
	@CsvSource({ "MVC, breaker, 503, 31, BREAKER", "MVC, breaker-soon, 503, 1, BREAKER",
			"MVC, breaker-past, 503, 0, BREAKER", "MVC, breaker-forced, 503,, BREAKER", "MVC, quota, 503, 300, QUOTA",
			"MVC, limiter, 429, 8, LIMITER", "MVC, too-large, 413,, LIMITER", "MVC, deadline, 504,, DEADLINE",
			"MVC, shutdown, 503,, SHUTDOWN", "WEBFLUX, breaker, 503, 31, BREAKER",
			"WEBFLUX, breaker-forced, 503,, BREAKER", "WEBFLUX, quota, 503, 300, QUOTA",
			"WEBFLUX, limiter, 429, 8, LIMITER", "WEBFLUX, too-large, 413,, LIMITER",
			"WEBFLUX, deadline, 504,, DEADLINE", "WEBFLUX, shutdown, 503,, SHUTDOWN" })
	void aRefusalIsAProblemThatSaysWhenToComeBack(Stack stack, String refusal, int status, @Nullable String retryAfter,
			String reason) {
		stack.run("/calls/" + refusal, new String[] { ON }, (response) -> {
			assertThat(response.statusCode()).isEqualTo(status);
			assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
			assertThat(response.headers().firstValue("Retry-After").orElse(null)).isEqualTo(retryAfter);
			assertThat(JsonPath.<Integer>read(response.body(), "$.status")).isEqualTo(status);
			assertThat(JsonPath.<String>read(response.body(), "$.title")).isEqualTo("Call to a model refused");
			assertThat(JsonPath.<String>read(response.body(), "$.reason")).isEqualTo(reason);
			assertThat(JsonPath.<String>read(response.body(), "$.provider")).isEqualTo("anthropic");
			assertThat(JsonPath.<String>read(response.body(), "$.detail")).endsWith(".");
			assertThat(JsonPath.<Map<String, Object>>read(response.body(), "$").containsKey("retryAt"))
				.isEqualTo(retryAfter != null);
		});
	}

	@ParameterizedTest
	@EnumSource
	void theAnswerIsExactlyThis(Stack stack) {
		stack.run("/calls/breaker", new String[] { ON },
				(response) -> assertThat(JsonPath.<Map<String, Object>>read(response.body(), "$"))
					.containsEntry("status", 503)
					.containsEntry("title", "Call to a model refused")
					.containsEntry("detail", "The provider does not answer at present.")
					.containsEntry("instance", "/calls/breaker")
					.containsEntry("provider", "anthropic")
					.containsEntry("reason", "BREAKER")
					.containsEntry("retryAt", NOW.plusMillis(30_400).toString()));
	}

	@ParameterizedTest
	@EnumSource
	void aRefusalThatComesLaterIsOneToo(Stack stack) {
		stack.run("/later", new String[] { ON }, (response) -> {
			assertThat(response.statusCode()).isEqualTo(503);
			assertThat(response.headers().firstValue("Retry-After")).contains("31");
		});
	}

	@ParameterizedTest
	@EnumSource
	void aRefusalThatSomethingElseWrapsIsOneToo(Stack stack) {
		stack.run("/wrapped", new String[] { ON }, (response) -> assertThat(response.statusCode()).isEqualTo(503));
	}

	@ParameterizedTest
	@EnumSource
	void nothingThatIsSecretGetsOut(Stack stack) {
		stack.run("/wrapped", new String[] { ON }, (response) -> assertThat(response.body()).doesNotContain("secret"));
	}

	@ParameterizedTest
	@EnumSource
	void otherFailuresAreNotTouched(Stack stack) {
		stack.run("/bug", new String[] { ON }, (response) -> assertThat(response.statusCode()).isEqualTo(500));
	}

	@ParameterizedTest
	@EnumSource
	void unlessAskedForARefusalIsAnyException(Stack stack) {
		stack.run("/calls/limiter", new String[0], (response) -> assertThat(response.statusCode()).isEqualTo(500));
	}

	@ParameterizedTest
	@EnumSource
	void anAdviceOfTheApplicationsOwnGoesFirstWithAnOrderBelowZero(Stack stack) {
		stack.run("/calls/breaker", new String[] { ON }, (response) -> assertThat(response.statusCode()).isEqualTo(418),
				OwnAdvice.class);
	}

	@Test
	void anApplicationThatServesNothingHasNoAdvice() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(LlmResilienceAutoConfiguration.class, ProblemDetailsAutoConfiguration.class))
			.withPropertyValues(ON)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(ProblemDetailsAdvice.class));
	}

	private static LlmCallRefusedException refusal(String kind) {
		return switch (kind) {
			case "breaker" -> new CircuitOpenException("anthropic", NOW.plusMillis(30_400));
			case "breaker-soon" -> new CircuitOpenException("anthropic", NOW.plusNanos(1));
			case "breaker-past" -> new CircuitOpenException("anthropic", NOW.minusSeconds(7));
			case "breaker-forced" -> new CircuitOpenException("anthropic", null);
			case "quota" -> new QuotaExhaustedException("anthropic", null, NOW.plusSeconds(300));
			case "limiter" ->
				new RateLimitWaitException("anthropic", Duration.ofSeconds(8), "max-wait", NOW.plusSeconds(8));
			case "too-large" -> RateLimitWaitException.never("anthropic", "tokens-per-minute");
			case "deadline" -> new DeadlineExceededException("anthropic");
			case "shutdown" -> new ShutdownException("anthropic", new IllegalStateException("secret"));
			default -> throw new IllegalArgumentException(kind);
		};
	}

	/** What serves the application. */
	enum Stack {

		MVC {
			@Override
			void run(String path, String[] properties, Check check, Class<?>... more) {
				new WebApplicationContextRunner(AnnotationConfigServletWebServerApplicationContext::new)
					.withConfiguration(AutoConfigurations.of(TomcatServletWebServerAutoConfiguration.class,
							DispatcherServletAutoConfiguration.class, WebMvcAutoConfiguration.class,
							LlmResilienceAutoConfiguration.class, ProblemDetailsAutoConfiguration.class))
					.withUserConfiguration(MvcCalls.class)
					.withUserConfiguration(more)
					.withBean(SettableTime.class)
					.withPropertyValues(properties)
					.withPropertyValues("server.port=0")
					.run((context) -> check.that(get(port(context), path)));
			}

			private static int port(AssertableWebApplicationContext context) {
				return Objects
					.requireNonNull(context
						.getSourceApplicationContext(AnnotationConfigServletWebServerApplicationContext.class)
						.getWebServer())
					.getPort();
			}
		},

		WEBFLUX {
			@Override
			void run(String path, String[] properties, Check check, Class<?>... more) {
				new ReactiveWebApplicationContextRunner()
					.withConfiguration(AutoConfigurations.of(LlmResilienceAutoConfiguration.class,
							ProblemDetailsAutoConfiguration.class))
					.withUserConfiguration(WebFlux.class, FluxCalls.class)
					.withUserConfiguration(more)
					.withBean(SettableTime.class)
					.withPropertyValues(properties)
					.run((context) -> {
						DisposableServer server = HttpServer.create()
							.port(0)
							.handle(new ReactorHttpHandlerAdapter(
									WebHttpHandlerBuilder.applicationContext(context).build()))
							.bindNow();
						try {
							check.that(get(server.port(), path));
						}
						finally {
							server.disposeNow();
						}
					});
			}
		};

		abstract void run(String path, String[] properties, Check check, Class<?>... more);

		static HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
			return HttpClient.newHttpClient()
				.send(HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
					.header("Accept", "application/json")
					.build(), BodyHandlers.ofString());
		}

	}

	@FunctionalInterface
	interface Check {

		void that(HttpResponse<String> response);

	}

	@RestController
	static class MvcCalls {

		@GetMapping("/calls/{kind}")
		String call(@PathVariable String kind) {
			throw refusal(kind);
		}

		@GetMapping("/later")
		CompletableFuture<String> later() {
			return CompletableFuture.supplyAsync(() -> {
				throw refusal("breaker");
			});
		}

		@GetMapping("/wrapped")
		String wrapped() {
			throw new IllegalStateException("secret", refusal("shutdown"));
		}

		@GetMapping("/bug")
		String bug() {
			throw new IllegalStateException("secret");
		}

	}

	@RestController
	static class FluxCalls {

		@GetMapping("/calls/{kind}")
		Mono<String> call(@PathVariable String kind) {
			return Mono.error(refusal(kind));
		}

		@GetMapping("/later")
		Mono<String> later() {
			return Mono.delay(Duration.ofMillis(1)).then(Mono.error(refusal("breaker")));
		}

		@GetMapping("/wrapped")
		Mono<String> wrapped() {
			return Mono.error(new IllegalStateException("secret", refusal("shutdown")));
		}

		@GetMapping("/bug")
		Mono<String> bug() {
			return Mono.error(new IllegalStateException("secret"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableWebFlux
	static class WebFlux {

	}

	@RestControllerAdvice
	@Order(-1)
	static class OwnAdvice {

		@ExceptionHandler
		ResponseEntity<String> handle(LlmCallRefusedException refused) {
			return ResponseEntity.status(418).body("mine");
		}

	}

}
