package dev.llmresilience.benchmarks;

import java.util.concurrent.TimeUnit;

import dev.llmresilience.LlmRetry;
import io.github.resilience4j.circuitbreaker.annotation.CircuitBreaker;
import io.github.resilience4j.ratelimiter.annotation.RateLimiter;
import io.github.resilience4j.retry.annotation.Retry;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;

/**
 * What a call costs that succeeds at once: unprotected, under {@code @LlmRetry} with all
 * guards on, under Spring's {@code @Retryable}, which guards nothing, and under the three
 * annotations of Resilience4j. Run it with {@code -prof gc} for the bytes.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class SuccessPathBenchmark {

	private final ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
		.web(WebApplicationType.NONE)
		.properties("logging.level.root=warn", "llm.resilience.providers.anthropic.limiter.requests-per-minute=6e10",
				"llm.resilience.providers.anthropic.limiter.burst=1000000",
				"resilience4j.ratelimiter.instances.anthropic.limit-for-period=1000000000",
				"resilience4j.ratelimiter.instances.anthropic.limit-refresh-period=1s",
				"resilience4j.ratelimiter.instances.anthropic.timeout-duration=0s")
		.run();

	private final Plain plain = new Plain();

	private final Ours ours = this.context.getBean(Ours.class);

	private final Springs springs = this.context.getBean(Springs.class);

	private final Resilience4js resilience4js = this.context.getBean(Resilience4js.class);

	/**
	 * Ends the application.
	 */
	@TearDown
	public void close() {
		this.context.close();
	}

	/**
	 * The bare method.
	 * @return its result
	 */
	@Benchmark
	public @Nullable Object unprotected() {
		return this.plain.call();
	}

	/**
	 * Ours, with limiter, budget, breaker, latch, deadline and attempt timeout.
	 * @return its result
	 */
	@Benchmark
	public @Nullable Object llmRetry() {
		return this.ours.call();
	}

	/**
	 * Spring Framework's retry.
	 * @return its result
	 */
	@Benchmark
	public @Nullable Object springRetryable() {
		return this.springs.call();
	}

	/**
	 * Resilience4j's retry, circuit breaker and rate limiter.
	 * @return its result
	 */
	@Benchmark
	public @Nullable Object resilience4j() {
		return this.resilience4js.call();
	}

	static class Plain {

		private final Object answer = new Object();

		Object call() {
			return this.answer;
		}

	}

	static class Ours {

		private final Object answer = new Object();

		@LlmRetry("anthropic")
		public Object call() {
			return this.answer;
		}

	}

	static class Springs {

		private final Object answer = new Object();

		@Retryable
		public Object call() {
			return this.answer;
		}

	}

	static class Resilience4js {

		private final Object answer = new Object();

		@Retry(name = "anthropic")
		@CircuitBreaker(name = "anthropic")
		@RateLimiter(name = "anthropic")
		public Object call() {
			return this.answer;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableResilientMethods
	static class Application {

		@Bean
		Ours ours() {
			return new Ours();
		}

		@Bean
		Springs springs() {
			return new Springs();
		}

		@Bean
		Resilience4js resilience4js() {
			return new Resilience4js();
		}

	}

}
