package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.Priority;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.Recovery;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.engine.CallMonitor.Intervention;
import dev.llmresilience.engine.CallSettings.OnOpen;
import dev.llmresilience.engine.ProviderSettings.BudgetSettings;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.limiter.LimiterSettings.TokenLimits;
import dev.llmresilience.test.SimulatedProvider.StatusException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

import static dev.llmresilience.engine.Simulation.EXACT;
import static dev.llmresilience.engine.Simulation.ONE_PER_SECOND;
import static dev.llmresilience.engine.Simulation.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * Calls that are only observed go as if nobody did, and what would have been done to them
 * is counted.
 */
class ObservedCallTests {

	private static final LimiterSettings NO_LIMIT = LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF);

	private final Simulation simulation = new Simulation();

	private final Map<Intervention, Integer> observed = new EnumMap<>(Intervention.class);

	private final List<Long> waits = new ArrayList<>();

	private final AtomicInteger attempts = new AtomicInteger();

	@BeforeEach
	void observe() {
		this.simulation.observing = true;
		this.simulation.monitor = new CallMonitor() {

			@Override
			public void observed(Intervention intervention) {
				ObservedCallTests.this.observed.merge(intervention, 1, Integer::sum);
			}

			@Override
			public void limiterWaited(long nanos) {
				ObservedCallTests.this.waits.add(nanos);
			}

		};
	}

	@AfterEach
	void end() {
		this.simulation.close();
	}

	@Test
	void aFailureReachesTheCallerAtOnceAndAsItWas() {
		this.simulation.with("p");
		StatusException thrown = status(500);
		Simulation.Caller<String> caller = this.simulation.run("p", () -> {
			this.attempts.incrementAndGet();
			throw thrown;
		});
		assertThat(caller.thrown()).isSameAs(thrown);
		assertThat(caller.ended()).isZero();
		assertThat(thrown.getSuppressed()).isEmpty();
		assertThat(this.attempts).hasValue(1);
		assertThat(this.observed).containsExactly(Map.entry(Intervention.RETRIED, 1));
		assertThat(this.simulation.reports).extracting(LlmCallReport::reason).containsExactly(GiveUpReason.OBSERVED);
	}

	@Test
	void aFailureThatWouldNotBeRetriedIsNotCountedAsOne() {
		this.simulation.with("p");
		Simulation.Caller<String> caller = this.simulation.run("p", () -> {
			throw status(400);
		});
		assertThat(caller.thrown()).isInstanceOf(StatusException.class);
		assertThat(this.observed).isEmpty();
	}

	@Test
	void callsBeyondTheLimitGoOn() {
		this.simulation.with("p", EXACT, ONE_PER_SECOND.withMode(LimiterMode.ADAPTIVE), null, null);
		for (int i = 0; i < 5; i++) {
			assertThat(this.simulation.future("p", () -> CompletableFuture.completedFuture("answer"))).isCompleted();
		}
		assertThat(this.observed).containsExactly(Map.entry(Intervention.DELAYED, 4));
		assertThat(this.simulation.providers().get("p").limiter().waiting()).isZero();
		assertThat(this.waits).isEmpty();
		assertThat(this.simulation.providers().get("p").limiter().inFlight()).isZero();
	}

	@Test
	void whatADelayedCallUsesIsChargedOnce() {
		LimiterSettings tokens = NO_LIMIT.withMode(LimiterMode.FIXED)
			.withTokens(new TokenLimits(2000.0, null, null, null));
		this.simulation.with("p", EXACT, tokens, null, null);
		FutureDriver driver = new FutureDriver(this.simulation.engine());
		for (int i = 0; i < 2; i++) {
			CompletableFuture<String> unused = driver.call(this.simulation.plan("p"), null, 1200, () -> {
				Objects.requireNonNull(LlmCall.current()).usedTokens(new TokenUsage(700, 0));
				return CompletableFuture.completedFuture("answer");
			}, null);
		}
		assertThat(this.observed).containsExactly(Map.entry(Intervention.DELAYED, 1));
		assertThat(this.simulation.providers().get("p").limiter().level(Dimension.TOKENS)).isCloseTo(600,
				within(0.001));
	}

	@Test
	void aCallThatWouldWaitForAnOpenBreakerCountsAsDelayed() {
		this.simulation.calls = CallSettings.DEFAULTS.withOnOpen(OnOpen.WAIT);
		this.simulation.with("p", EXACT, NO_LIMIT, null, Simulation.threshold(1));
		this.simulation.open("p");
		assertThat(this.simulation.future("p", () -> CompletableFuture.completedFuture("answer"))).isCompleted();
		assertThat(this.observed).containsExactly(Map.entry(Intervention.DELAYED, 1));
	}

	@Test
	void aCallThatWouldBeRefusedCountsOnceHoweverItEnds() {
		this.simulation.with("p", EXACT, NO_LIMIT, null, Simulation.threshold(1));
		this.simulation.open("p");
		assertThat(this.simulation.future("p", () -> CompletableFuture.failedFuture(status(500))))
			.isCompletedExceptionally();
		assertThat(this.observed).containsExactly(Map.entry(Intervention.REFUSED, 1));
	}

	@Test
	void aFailureForWhoseRetryThereWouldBeNoTimeCountsAsNone() {
		this.simulation.with("p", EXACT.withTimeouts(Duration.ofSeconds(1), Duration.ofSeconds(1)), NO_LIMIT, null,
				null);
		CompletableFuture<String> attempt = new CompletableFuture<>();
		CompletableFuture<String> call = this.simulation.future("p", () -> attempt);
		this.simulation.time.runFor(Duration.ofSeconds(2));
		attempt.completeExceptionally(status(500));
		assertThat(call).isCompletedExceptionally();
		assertThat(this.observed).isEmpty();
	}

	@Test
	void aFailureWithAnUnknownOutcomeThatAKeyWouldLetRetryCountsAsRetried() {
		this.simulation.calls = CallSettings.DEFAULTS.withIdempotencyKeyHeader("Idempotency-Key");
		this.simulation.with("p");
		CallOptions once = new CallOptions(EXACT, Integer.MAX_VALUE, false, Priority.NORMAL, List.of(), List.of());
		Simulation.Caller<String> caller = this.simulation.run(() -> this.simulation.call("p", once, () -> {
			throw status(504);
		}, null));
		assertThat(caller.thrown()).isInstanceOf(StatusException.class);
		assertThat(this.observed).containsExactly(Map.entry(Intervention.RETRIED, 1));
	}

	@Test
	void whatAsksForTheTimeLeftIsNotCutShort() {
		this.simulation.with("p");
		assertThat(this.simulation.run("p", () -> {
			this.simulation.time.sleep(Duration.ofDays(10));
			return Objects.requireNonNull(LlmCall.current()).timeLeft();
		}).result()).isGreaterThan(Duration.ofDays(365));
	}

	@Test
	void anOpenBreakerRefusesNobodyAndKeepsItsState() {
		this.simulation.with("p", EXACT, NO_LIMIT, null, Simulation.threshold(2));
		for (int i = 0; i < 2; i++) {
			assertThat(this.simulation.future("p", () -> CompletableFuture.failedFuture(status(500))))
				.isCompletedExceptionally();
		}
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.OPEN);
		assertThat(this.simulation.future("p", () -> CompletableFuture.completedFuture("answer"))).isCompleted();
		assertThat(this.observed).containsEntry(Intervention.REFUSED, 1);
		assertThat(this.simulation.breaker("p").snapshot().rejectedCalls()).isEqualTo(1);
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.OPEN);
	}

	@Test
	void nobodyTakesOverAndNoFallbackAnswers() {
		this.simulation.with("p", EXACT.withAttempts(1, 0), NO_LIMIT, BudgetSettings.DEFAULTS, null).with("q");
		CompletableFuture<String> call = new FutureDriver(this.simulation.engine()).call(this.simulation.plan("p", "q"),
				null, 0, () -> CompletableFuture.failedFuture(status(500)),
				(failure) -> CompletableFuture.completedFuture("fallback"));
		assertThat(call).isCompletedExceptionally();
		assertThat(this.observed).containsExactly(Map.entry(Intervention.FAILED_OVER, 1));
	}

	@Test
	void noTimeIsBounded() {
		this.simulation.calls = CallSettings.DEFAULTS.withStreamTimeouts(Duration.ofSeconds(1), Duration.ofSeconds(1));
		this.simulation.with("p");
		CompletableFuture<String> slow = this.simulation.future("p", CompletableFuture<String>::new);
		List<String> elements = new ArrayList<>();
		new ReactiveDriver(this.simulation.engine())
			.flux(this.simulation.plan("p"), null, 0, () -> Flux.just("a").concatWith(Flux.never()), null)
			.subscribe(elements::add);
		this.simulation.time.runFor(Duration.ofHours(1));
		assertThat(slow).isNotDone();
		assertThat(elements).containsExactly("a");
		assertThat(this.simulation.reports).isEmpty();
	}

	@Test
	void equalCallsAreMadeEach() {
		this.simulation.with("p");
		SharedCalls shared = new SharedCalls(this.simulation.engine());
		CompletableFuture<String> answer = new CompletableFuture<>();
		for (int i = 0; i < 3; i++) {
			CompletableFuture<String> unused = shared.callAsync("method", this.simulation.plan("p"), "key", () -> {
				this.attempts.incrementAndGet();
				return answer;
			});
		}
		assertThat(this.attempts).hasValue(3);
	}

	@Test
	void noStrategyIsAskedToRecover() throws Exception {
		this.simulation.with("p");
		RecoveryDriver driver = new RecoveryDriver(this.simulation.engine(), this.simulation.providers().get("p"),
				this.simulation.options("p"), ObservedCallTests.class.getDeclaredMethod("observe"), "again",
				(run) -> Recovery.retry());
		StatusException thrown = status(500);
		Simulation.Caller<String> caller = this.simulation.run(() -> String.valueOf(driver.call(new Object[0], () -> {
			this.attempts.incrementAndGet();
			throw thrown;
		})));
		assertThat(caller.thrown()).isSameAs(thrown);
		assertThat(this.attempts).hasValue(1);
	}

}
