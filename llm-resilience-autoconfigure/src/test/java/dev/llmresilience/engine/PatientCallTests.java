package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import dev.llmresilience.CircuitOpenException;
import dev.llmresilience.ShutdownException;
import dev.llmresilience.breaker.BreakerSettings;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.engine.CallSettings.OnOpen;
import dev.llmresilience.engine.Simulation.Caller;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.policy.RetryPolicy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static dev.llmresilience.engine.Simulation.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Calls that wait while the circuit breaker is open ({@code on-open: wait}), through the
 * drivers.
 */
class PatientCallTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final Simulation simulation = new Simulation();

	private int requests;

	/** Requests that the outage met. */
	private int failed;

	@AfterEach
	void end() {
		this.simulation.close();
	}

	private void entry(RetryPolicy policy, int threshold) {
		BreakerSettings defaults = BreakerSettings.DEFAULTS;
		this.simulation.calls = CallSettings.DEFAULTS.withOnOpen(OnOpen.WAIT);
		this.simulation.with("p", policy, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, new BreakerSettings(
				threshold, null, defaults.windowSize(), null, SECOND, SECOND, defaults.trialTimeout()));
	}

	/** The provider is down from 1 s to 7 s. */
	private String request() {
		this.requests++;
		Duration now = this.simulation.time.elapsed();
		if (now.compareTo(SECOND) >= 0 && now.compareTo(Duration.ofSeconds(7)) < 0) {
			this.failed++;
			throw status(503);
		}
		return "answer";
	}

	/**
	 * The row of the specification: an outage of 6 s, 80 calls, one every 0.25 s,
	 * {@code open-duration: 1s}, deadline 30 s.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void anOutageCostsNoCallAndOneRequestATrial(boolean future) {
		entry(RetryPolicy.DEFAULTS.withTimeouts(Duration.ofSeconds(30), Duration.ofSeconds(30)), 10);
		List<Caller<String>> callers = new ArrayList<>();
		List<CompletableFuture<String>> futures = new ArrayList<>();
		for (int i = 0; i < 80; i++) {
			Duration at = Duration.ofMillis(250L * i);
			if (future) {
				this.simulation.time.schedule(at.toNanos(), () -> futures
					.add(this.simulation.future("p", () -> CompletableFuture.completedFuture(request()))));
			}
			else {
				callers.add(this.simulation.startAfter(at, () -> this.simulation.call("p", this::request)));
			}
		}
		this.simulation.time.runFor(Duration.ofMinutes(1));
		assertThat(callers).allSatisfy((caller) -> assertThat(caller.result()).isEqualTo("answer"));
		assertThat(futures).allSatisfy((call) -> assertThat(call).isCompletedWithValue("answer"));
		assertThat(callers.size() + futures.size()).isEqualTo(80);
		System.out.printf("outage of 6 s, on-open: wait, futures %s: 80 of 80, %d requests, %d of them failed%n",
				future, this.requests, this.failed);
		// Ten open the breaker, and then a trial a second at most.
		assertThat(this.failed).isBetween(10, 10 + 6);
		assertThat(this.requests).isEqualTo(80 + this.failed);
	}

	@Test
	void aFailedTrialDoesNotCountOnTheLadderOfItsCall() {
		entry(Simulation.EXACT.withAttempts(2, 1), 1);
		this.simulation.time.runFor(SECOND);
		Caller<String> caller = this.simulation.run("p", this::request);
		assertThat(caller.result()).isEqualTo("answer");
		assertThat(this.failed).isGreaterThan(3);
	}

	@Test
	void whatIsWrongWithTheRequestStillFailsAtOnce() {
		entry(Simulation.EXACT, 1);
		this.simulation.open("p");
		Caller<String> caller = this.simulation.run("p", () -> {
			throw status(400);
		});
		assertThat(caller.thrown()).hasMessageContaining("400");
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.CLOSED);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aCallWhoseTimeIsOverFailsAsIfItHadNotWaited(boolean future) {
		entry(Simulation.EXACT.withTimeouts(Duration.ofSeconds(5), Duration.ofSeconds(5)), 1);
		this.simulation.breaker("p").forceOpen();
		if (future) {
			CompletableFuture<String> call = this.simulation.future("p",
					() -> CompletableFuture.completedFuture(request()));
			this.simulation.time.runFor(Duration.ofSeconds(5));
			assertThat(call).isCompletedExceptionally();
			assertThat(catchThrowable(call::join)).hasCauseInstanceOf(CircuitOpenException.class);
		}
		else {
			Caller<String> caller = this.simulation.run("p", this::request);
			assertThat(caller.thrown()).isInstanceOf(CircuitOpenException.class);
			assertThat(caller.ended()).isEqualTo(Duration.ofSeconds(5));
		}
		assertThat(this.requests).isZero();
	}

	@Test
	void aShutdownEndsTheWait() {
		entry(Simulation.EXACT, 1);
		this.simulation.breaker("p").forceOpen();
		Caller<String> caller = this.simulation.start("p", this::request);
		this.simulation.time.schedule(SECOND.toNanos(), () -> {
			this.simulation.engine().close();
			this.simulation.providers().close();
		});
		this.simulation.time.run();
		assertThat(caller.thrown()).isInstanceOf(ShutdownException.class);
		assertThat(caller.ended()).isEqualTo(SECOND);
	}

	@Test
	void anInterruptEndsTheWait() {
		entry(Simulation.EXACT, 1);
		this.simulation.breaker("p").forceOpen();
		Caller<String> caller = this.simulation.start("p", this::request);
		this.simulation.interruptAfter(SECOND, caller);
		this.simulation.time.run();
		assertThat(caller.interrupted()).isTrue();
		assertThat(caller.ended()).isEqualTo(SECOND);
		assertThat(Objects.requireNonNull(this.simulation.providers().get("p").room()).waiting()).isZero();
	}

	@Test
	void aCancelEndsTheWaitOfAFuture() {
		entry(Simulation.EXACT, 1);
		this.simulation.breaker("p").forceOpen();
		CompletableFuture<String> call = this.simulation.future("p",
				() -> CompletableFuture.completedFuture(request()));
		call.cancel(true);
		assertThat(Objects.requireNonNull(this.simulation.providers().get("p").room()).waiting()).isZero();
	}

	@Test
	void aCallWithinOneThatWasLetInDoesNotWaitForThat() {
		entry(Simulation.EXACT, 1);
		this.simulation.open("p");
		Caller<String> caller = this.simulation.run("p", () -> this.simulation.call("p", () -> "answer"));
		assertThat(caller.result()).isEqualTo("answer");
	}

}
