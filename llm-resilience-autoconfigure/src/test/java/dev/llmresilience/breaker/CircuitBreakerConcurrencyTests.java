package dev.llmresilience.breaker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.FailureKind;
import dev.llmresilience.breaker.CircuitBreaker.Permit;
import dev.llmresilience.test.SettableTime;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever callers do to a breaker whose open time is over at the same moment, it could
 * have happened one after the other.
 */
@Tag("lincheck")
public class CircuitBreakerConcurrencyTests {

	private final CircuitBreaker breaker;

	public CircuitBreakerConcurrencyTests() {
		SettableTime time = new SettableTime();
		BreakerSettings defaults = BreakerSettings.DEFAULTS;
		this.breaker = new CircuitBreaker("p", new BreakerSettings(1, null, 100, null, defaults.openDuration(),
				defaults.maxOpenDuration(), defaults.trialTimeout()), time, (transition) -> {
				});
		Objects.requireNonNull(this.breaker.tryAcquire()).failure(FailureKind.SERVER_ERROR, 500, 0);
		time.advance(Duration.ofMinutes(1));
	}

	/** Takes a permit and keeps it. */
	@Operation
	public boolean trial() {
		return this.breaker.tryAcquire() != null;
	}

	@Operation
	public void disable() {
		this.breaker.disable();
	}

	@Operation
	public void forceOpen() {
		this.breaker.forceOpen();
	}

	@Operation
	public void close() {
		this.breaker.close();
	}

	@Operation
	public BreakerState state() {
		return this.breaker.state();
	}

	@Test
	void isLinearizable() {
		new StressOptions().iterations(30).invocationsPerIteration(1000).threads(3).check(getClass());
	}

	@Test
	void neverHasTwoTrialsInFlight() throws Exception {
		AtomicInteger inFlight = new AtomicInteger();
		AtomicInteger trials = new AtomicInteger();
		ExecutorService executor = Executors.newFixedThreadPool(4);
		List<Future<?>> running = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			running.add(executor.submit(() -> {
				for (int call = 0; call < 20_000; call++) {
					Permit permit = this.breaker.tryAcquire();
					if (permit != null) {
						assertThat(inFlight.incrementAndGet()).isEqualTo(1);
						trials.incrementAndGet();
						inFlight.decrementAndGet();
						permit.neutral();
					}
				}
			}));
		}
		for (Future<?> thread : running) {
			thread.get(30, TimeUnit.SECONDS);
		}
		executor.shutdown();
		assertThat(trials).hasPositiveValue();
		assertThat(this.breaker.snapshot().trialInFlight()).isFalse();
	}

	@Test
	void aPermitIsCurrentUntilTheStateChanges() {
		Permit trial = Objects.requireNonNull(this.breaker.tryAcquire());
		assertThat(trial.holdsTrial()).isTrue();
		this.breaker.close();
		assertThat(trial.holdsTrial()).isFalse();
	}

}
