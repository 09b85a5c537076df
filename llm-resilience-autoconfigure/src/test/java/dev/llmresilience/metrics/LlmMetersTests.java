package dev.llmresilience.metrics;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport.WaitCause;
import dev.llmresilience.LlmResilience;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.test.VirtualTime;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.CountingMode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.web.client.HttpServerErrorException;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.RestClientResponseException;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the meters say of calls.
 */
class LlmMetersTests {

	private static final int MANY = 10_000;

	private final MeterRegistry registry = new SimpleMeterRegistry();

	private final VirtualTime time = new VirtualTime(1);

	private final ApplicationContextRunner runner = runner(this.registry);

	private ApplicationContextRunner runner(MeterRegistry registry) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class))
			.withPropertyValues("llm.resilience.providers.anthropic.retry.jitter=none",
					"llm.resilience.providers.anthropic.breaker.failure-threshold=4",
					"llm.resilience.providers.openai.type=openai")
			.withBean("time", VirtualTime.class, () -> this.time)
			.withBean("registry", MeterRegistry.class, () -> registry);
	}

	@AfterEach
	void end() {
		this.time.close();
	}

	@Test
	void aCallIsTimedByItsOutcomeAndItsAttemptsAreCountedByTheirKind() {
		this.runner.run((context) -> {
			call(context, status(500), status(503));
			call(context, status(400));
			assertThat(this.registry.get("llm.calls").tags("provider", "anthropic", "outcome", "SUCCESS").timer())
				.satisfies((timer) -> {
					assertThat(timer.count()).isEqualTo(1);
					assertThat(timer.totalTime(java.util.concurrent.TimeUnit.MILLISECONDS)).isEqualTo(5500);
				});
			assertThat(calls("NOT_RETRYABLE")).isEqualTo(1);
			assertThat(attempts("SUCCESS")).isEqualTo(1);
			assertThat(attempts("SERVER_ERROR")).isEqualTo(1);
			assertThat(attempts("OVERLOADED")).isEqualTo(1);
			assertThat(attempts("INVALID_REQUEST")).isEqualTo(1);
		});
	}

	@Test
	void aRegistryThatPushesWhatCameInEachStepGetsThatOfAttemptsToo() {
		MockClock clock = new MockClock();
		SimpleMeterRegistry steps = new SimpleMeterRegistry(
				(key) -> key.equals("simple.mode") ? CountingMode.STEP.name() : null, clock);
		runner(steps).run((context) -> {
			for (int step = 1; step <= 3; step++) {
				for (int i = 0; i < 5 * step; i++) {
					call(context);
				}
				clock.add(Duration.ofMinutes(1));
				assertThat(attempts(steps, "SUCCESS")).isEqualTo(5 * step);
			}
		});
	}

	@Test
	void theWaitsBeforeRetriesAreTimedByTheirCause() {
		this.runner.run((context) -> {
			call(context, status(500), status(500));
			assertThat(this.registry.get("llm.retry.wait").tag("cause", "BACKOFF").timer().count()).isEqualTo(2);
		});
	}

	@Test
	void theOpenBreakerShowsWithWhatItRefuses() {
		this.runner.run((context) -> {
			call(context, status(500), status(500), status(500), status(500));
			assertThat(state(BreakerState.OPEN)).isEqualTo(1);
			assertThat(state(BreakerState.CLOSED)).isZero();
			call(context);
			assertThat(this.registry.get("llm.breaker.rejected").tag("provider", "anthropic").counter().count())
				.isEqualTo(1);
			assertThat(calls("BREAKER")).isEqualTo(1);
		});
	}

	@Test
	void whoWaitsAtTheLimiterShows() {
		this.runner
			.withPropertyValues("llm.resilience.providers.anthropic.limiter.requests-per-minute=60",
					"llm.resilience.providers.anthropic.limiter.burst=1")
			.run((context) -> {
				LlmResilience resilience = context.getBean(LlmResilience.class);
				for (int i = 0; i < 3; i++) {
					CompletableFuture<Integer> unused = resilience.callAsync("anthropic",
							() -> CompletableFuture.completedFuture(42));
				}
				assertThat(gauge("llm.limiter.waiting")).isEqualTo(2);
				assertThat(this.registry.get("llm.limiter.rate").tag("dimension", "REQUESTS").gauge().value())
					.isEqualTo(60);
				this.time.runFor(Duration.ofSeconds(5));
				assertThat(gauge("llm.limiter.waiting")).isZero();
				assertThat(this.registry.get("llm.limiter.wait").timer().count()).isEqualTo(2);
			});
	}

	@Test
	void theBudgetAndTheLatchShow() {
		this.runner.run((context) -> {
			call(context, status(500), status(500));
			assertThat(gauge("llm.budget.tokens")).isBetween(48.0, 48.6);
			assertThat(gauge("llm.quota.latched")).isZero();
			call(context,
					new HttpClientErrorException(HttpStatus.BAD_REQUEST, "Bad Request",
							("{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
									+ "\"Your credit balance is too low to access the Anthropic API.\"}}")
								.getBytes(java.nio.charset.StandardCharsets.UTF_8),
							null));
			assertThat(attempts("QUOTA_EXHAUSTED")).isEqualTo(1);
		});
	}

	@Test
	void failoversAndSharedCallsAreCounted() {
		this.runner
			.withPropertyValues("llm.resilience.providers.anthropic.retry.failover=openai",
					"llm.resilience.providers.anthropic.retry.max-attempts=1")
			.withBean(Questions.class)
			.run((context) -> {
				call(context, status(500));
				assertThat(this.registry.get("llm.failovers")
					.tags("provider", "anthropic", "target", "openai")
					.counter()
					.count()).isEqualTo(1);
				Questions questions = context.getBean(Questions.class);
				List<CompletableFuture<String>> asked = Stream.of("why", "why", "why").map(questions::ask).toList();
				questions.answer("because");
				this.time.runFor(Duration.ofSeconds(1));
				assertThat(asked).allSatisfy((answer) -> assertThat(answer).isCompletedWithValue("because"));
				assertThat(this.registry.get("llm.deduplicated").tag("provider", "anthropic").counter().count())
					.isEqualTo(2);
			});
	}

	@Test
	void inModeObserveWhatWouldHaveBeenDoneIsCountedAndNotDone() {
		this.runner.withPropertyValues("llm.resilience.mode=observe").run((context) -> {
			call(context, status(500));
			assertThat(this.registry.get("llm.observed")
				.tags("provider", "anthropic", "intervention", "RETRIED")
				.counter()
				.count()).isEqualTo(1);
			assertThat(calls("OBSERVED")).isEqualTo(1);
			assertThat(attempts("SERVER_ERROR")).isEqualTo(1);
		});
	}

	@Test
	void aProviderThatNobodyCallsHasNoMeters() {
		this.runner.run((context) -> {
			call(context);
			assertThat(tagValues("provider")).containsExactly("anthropic");
		});
	}

	@Test
	void theValuesOfAKeyAreNoTags() {
		this.runner.withBean(Tenants.class).run((context) -> {
			Tenants tenants = context.getBean(Tenants.class);
			Stream.of("acme", "umbrella", "initech").forEach(tenants::ask);
			assertThat(calls("SUCCESS")).isEqualTo(3);
			assertThat(this.registry.getMeters()).noneMatch((meter) -> meter.getId().toString().contains("acme"));
		});
	}

	@Test
	void whenTheApplicationEndsItsMetersAreTakenOut() {
		this.runner.run((context) -> call(context, status(500)));
		assertThat(this.registry.getMeters()).noneMatch((meter) -> meter.getId().getName().startsWith("llm."));
	}

	@Test
	void afterManyCallsWithRandomErrorsAllTagsAreOfFixedSets() {
		this.runner.withPropertyValues("llm.resilience.providers.anthropic.breaker.enabled=false").run((context) -> {
			Random random = new Random(1);
			LlmResilience resilience = context.getBean(LlmResilience.class);
			for (int i = 0; i < MANY; i++) {
				CompletableFuture<Integer> unused = resilience.callAsync("anthropic",
						() -> CompletableFuture.failedFuture(failure(random)));
			}
			this.time.runFor(Duration.ofHours(1));
			assertThat(tagValues("provider")).isSubsetOf("anthropic", "default", "openai");
			assertThat(tagValues("outcome")).isSubsetOf(names(GiveUpReason.values(), "SUCCESS"));
			assertThat(tagValues("kind")).isSubsetOf(names(FailureKind.values(), "SUCCESS"));
			assertThat(tagValues("cause")).isSubsetOf(names(WaitCause.values()));
			assertThat(tagValues("state")).isSubsetOf(names(BreakerState.values()));
			assertThat(tagValues("dimension")).isSubsetOf(names(Dimension.values()));
			assertThat(llmMeters().flatMap((meter) -> meter.getId().getTags().stream())
				.map(Tag::getKey)
				.collect(Collectors.toSet()))
				.isSubsetOf("provider", "outcome", "kind", "cause", "state", "dimension", "target");
			assertThat(llmMeters().filter((meter) -> meter.getId().getName().equals("llm.calls"))
				.mapToDouble((meter) -> meter.measure().iterator().next().getValue())
				.sum()).as("every call has ended").isEqualTo(MANY);
		});
	}

	@Test
	void theyScrapeAsPrometheusWantsThem() {
		PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
		runner(prometheus).run((context) -> {
			call(context, status(500));
			assertThat(prometheus.scrape()).contains(
					"llm_calls_seconds_count{outcome=\"SUCCESS\",provider=\"anthropic\"} 1",
					"llm_attempts_total{kind=\"SERVER_ERROR\",provider=\"anthropic\"} 1.0",
					"llm_retry_wait_seconds_count{cause=\"BACKOFF\",provider=\"anthropic\"} 1",
					"llm_breaker_state{provider=\"anthropic\",state=\"CLOSED\"} 1.0");
		});
	}

	private static Throwable failure(Random random) {
		int status = 400 + random.nextInt(200);
		byte[] body = ("{\"error\":{\"type\":\"t" + random.nextInt() + "\",\"code\":\"c" + random.nextInt()
				+ "\",\"message\":\"m" + random.nextInt() + "\"}}")
			.getBytes(java.nio.charset.StandardCharsets.UTF_8);
		return switch (random.nextInt(4)) {
			case 0 -> new IllegalStateException("m" + random.nextInt());
			case 1 -> new java.io.IOException("m" + random.nextInt());
			default -> new RestClientResponseException("m" + random.nextInt(), HttpStatusCode.valueOf(status),
					"s" + random.nextInt(), null, body, null);
		};
	}

	private static RuntimeException status(int status) {
		return new HttpServerErrorException(HttpStatusCode.valueOf(status));
	}

	/** A call whose attempts fail like that before one succeeds. */
	private void call(AssertableApplicationContext context, RuntimeException... failures) {
		java.util.Queue<RuntimeException> left = new java.util.ArrayDeque<>(List.of(failures));
		CompletableFuture<Integer> unused = context.getBean(LlmResilience.class).callAsync("anthropic", () -> {
			RuntimeException failure = left.poll();
			return (failure != null) ? CompletableFuture.failedFuture(failure) : CompletableFuture.completedFuture(42);
		});
		this.time.runFor(Duration.ofSeconds(20));
	}

	private double calls(String outcome) {
		return this.registry.get("llm.calls").tags("provider", "anthropic", "outcome", outcome).timer().count();
	}

	private double attempts(String kind) {
		return attempts(this.registry, kind);
	}

	private static double attempts(MeterRegistry registry, String kind) {
		return registry.get("llm.attempts").tags("provider", "anthropic", "kind", kind).counter().count();
	}

	private double state(BreakerState state) {
		return this.registry.get("llm.breaker.state")
			.tags("provider", "anthropic", "state", state.name())
			.gauge()
			.value();
	}

	private double gauge(String name) {
		return this.registry.get(name).tag("provider", "anthropic").gauge().value();
	}

	private Stream<Meter> llmMeters() {
		return this.registry.getMeters().stream().filter((meter) -> meter.getId().getName().startsWith("llm."));
	}

	private Set<String> tagValues(String key) {
		return llmMeters().map((meter) -> meter.getId().getTag(key))
			.filter(java.util.Objects::nonNull)
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private static List<String> names(Enum<?>[] constants, String... more) {
		return Stream.concat(Stream.of(constants).map(Enum::name), Stream.of(more)).toList();
	}

	static class Questions {

		private final CompletableFuture<String> answer = new CompletableFuture<>();

		@LlmRetry(provider = "anthropic", deduplicate = "#question")
		CompletableFuture<String> ask(String question) {
			return this.answer;
		}

		void answer(String answer) {
			this.answer.complete(answer);
		}

	}

	static class Tenants {

		@LlmRetry(provider = "anthropic", key = "#tenant")
		String ask(String tenant) {
			return "answer";
		}

	}

}
