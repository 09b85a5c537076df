package dev.llmresilience.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.LlmResilience;
import dev.llmresilience.ShutdownException;
import dev.llmresilience.Priority;
import dev.llmresilience.limiter.Permit;
import dev.llmresilience.limiter.RateLimiter;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * When the application shuts down, no call keeps it waiting and no thread stays.
 */
class ShutdownTests {

	private static final int CALLS = 20;

	@Test
	void callsThatWaitBeforeARetryEndWithinASecond() {
		AtomicInteger attempts = new AtomicInteger();
		ConfigurableApplicationContext context = new Starts()
			.with("llm.resilience.providers.default.retry.base-delay", "1h")
			.with("llm.resilience.providers.default.retry.max-delay", "1h")
			.with("llm.resilience.providers.default.retry.timeout", "2h")
			.with("llm.resilience.providers.default.retry.jitter", "none")
			.with("llm.resilience.providers.default.breaker.enabled", "false")
			.run();
		List<Throwable> ends = endsOf(context, () -> {
			attempts.incrementAndGet();
			throw new TimeoutException("too slow");
		}, () -> attempts.get() == CALLS);
		assertThat(attempts).hasValue(CALLS);
		assertThat(ends).hasSize(CALLS)
			.allSatisfy((end) -> assertThat(end).isInstanceOf(ShutdownException.class)
				.hasCauseInstanceOf(TimeoutException.class)
				.hasMessageContaining("'default'"));
	}

	@Test
	void callsThatWaitForTheirTurnEndWithinASecond() {
		ConfigurableApplicationContext context = new Starts()
			.with("llm.resilience.providers.default.limiter.requests-per-minute", "0.01")
			.with("llm.resilience.providers.default.retry.timeout", "100d")
			.run();
		RateLimiter limiter = context.getBean("defaultRateLimiter", RateLimiter.class);
		assertThat(limiter.tryAcquire(new Permit(this, Priority.NORMAL, 0, false, 0), System.nanoTime())).isTrue();
		List<Throwable> ends = endsOf(context, () -> {
			throw new AssertionError("Let out");
		}, () -> limiter.waiting() == CALLS);
		assertThat(ends).hasSize(CALLS).allSatisfy((end) -> assertThat(end).isInstanceOf(ShutdownException.class));
	}

	@Test
	void aCallAfterwardsIsRefused() {
		LlmResilience resilience;
		try (ConfigurableApplicationContext context = new Starts().run()) {
			resilience = context.getBean(LlmResilience.class);
		}
		assertThatExceptionOfType(ShutdownException.class).isThrownBy(() -> resilience.call("default", () -> 42));
	}

	private static List<Throwable> endsOf(ConfigurableApplicationContext context, Callable<Object> call,
			Callable<Boolean> allWait) {
		LlmResilience resilience = context.getBean(LlmResilience.class);
		List<Throwable> ends = Collections.synchronizedList(new ArrayList<>());
		ExecutorService callers = Executors.newFixedThreadPool(CALLS);
		try {
			for (int i = 0; i < CALLS; i++) {
				callers.execute(() -> {
					try {
						resilience.call("default", call);
					}
					catch (Throwable ex) {
						ends.add(ex);
					}
				});
			}
			Awaitility.await().pollInterval(Duration.ofMillis(10)).until(allWait);
			assertThat(ends).isEmpty();
			context.close();
			Awaitility.await()
				.pollInterval(Duration.ofMillis(10))
				.atMost(Duration.ofSeconds(1))
				.until(() -> ends.size() == CALLS);
			Awaitility.await()
				.pollInterval(Duration.ofMillis(10))
				.atMost(Duration.ofSeconds(1))
				.until(() -> Thread.getAllStackTraces()
					.keySet()
					.stream()
					.noneMatch((thread) -> thread.getName().startsWith("llm-resilience-")));
		}
		finally {
			context.close();
			callers.shutdownNow();
		}
		return List.copyOf(ends);
	}

}
