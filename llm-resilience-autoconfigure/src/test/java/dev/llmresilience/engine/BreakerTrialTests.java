package dev.llmresilience.engine;

import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.CircuitOpenException;
import dev.llmresilience.FailureKind;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.policy.RetryPolicy;
import dev.llmresilience.test.SettableTime;
import dev.llmresilience.test.SimulatedProvider;
import dev.llmresilience.test.SimulatedProvider.StatusException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many threads at the end of the cool-down of a breaker, while the provider is still
 * down.
 */
class BreakerTrialTests {

	private final SettableTime time = new SettableTime();

	private final AtomicInteger requests = new AtomicInteger();

	@Test
	void ofFiftyThreadsOneIsTheTrialAndTheOthersAreRefused() throws Exception {
		assertThatOneOfManyIsTheTrial(50, Executors.newFixedThreadPool(50));
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21)
	void ofAThousandVirtualThreadsOneIsTheTrialAndTheOthersAreRefused() throws Exception {
		assertThatOneOfManyIsTheTrial(1000, virtualThreads());
	}

	private void assertThatOneOfManyIsTheTrial(int threads, ExecutorService executor) throws Exception {
		ProviderSettings defaults = ProviderSettings.defaults("p");
		ProviderSettings settings = new ProviderSettings("p", defaults.type(), "p", List.of(), RetryPolicy.DEFAULTS,
				CallSettings.DEFAULTS, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, defaults.budget(),
				Simulation.threshold(1), defaults.quotaCoolDown());
		Provider provider = new Providers(List.of(settings), this.time, GuardListener.NONE).get("p");
		CircuitBreaker breaker = Objects.requireNonNull(provider.breaker());
		Objects.requireNonNull(breaker.tryAcquire()).failure(FailureKind.SERVER_ERROR, 500, 0);
		this.time.advance(Duration.ofSeconds(30));
		BlockingDriver driver = new BlockingDriver(new CallEngine(this.time, SimulatedProvider.classifier(true)));

		CountDownLatch start = new CountDownLatch(1);
		CountDownLatch refused = new CountDownLatch(threads - 1);
		List<Future<Throwable>> callers = new ArrayList<>();
		for (int i = 0; i < threads; i++) {
			callers.add(executor.submit(() -> {
				start.await();
				Throwable thrown = thrownBy(driver, provider, refused);
				refused.countDown();
				return thrown;
			}));
		}
		start.countDown();
		List<Throwable> thrown = new ArrayList<>();
		for (Future<Throwable> caller : callers) {
			thrown.add(caller.get(30, TimeUnit.SECONDS));
		}
		executor.shutdown();

		assertThat(this.requests).hasValue(1);
		assertThat(thrown).filteredOn(StatusException.class::isInstance).hasSize(1);
		assertThat(thrown).filteredOn(CircuitOpenException.class::isInstance).hasSize(threads - 1);
		assertThat(breaker.state()).isEqualTo(BreakerState.OPEN);
	}

	/** The trial fails only once all others have been refused. */
	private Throwable thrownBy(BlockingDriver driver, Provider provider, CountDownLatch refused) {
		try {
			driver.call(provider, provider.options(), () -> {
				this.requests.incrementAndGet();
				refused.await(20, TimeUnit.SECONDS);
				throw Simulation.status(503);
			}, null);
			throw new IllegalStateException("The provider is down");
		}
		catch (Throwable ex) {
			return ex;
		}
	}

	private static ExecutorService virtualThreads() throws ReflectiveOperationException {
		try {
			return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
		}
		catch (InvocationTargetException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
