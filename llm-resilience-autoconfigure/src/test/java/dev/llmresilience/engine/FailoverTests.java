package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.engine.BlockingDriver.Fallback;
import dev.llmresilience.engine.Simulation.Caller;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.test.SimulatedProvider.StatusException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static dev.llmresilience.engine.Simulation.status;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Another provider takes over what has failed for good. Each test runs on the blocking
 * and on the future driver, which must not differ.
 */
class FailoverTests {

	private final Simulation simulation = new Simulation();

	/** The providers that attempts were made at, in order. */
	private final List<String> asked = new ArrayList<>();

	@AfterEach
	void end() {
		this.simulation.close();
	}

	private Outcome call(boolean future, CallPlan plan, Behaviour behaviour, @Nullable Fallback<String> fallback) {
		BlockingDriver.Body<String> body = () -> {
			LlmCall call = Objects.requireNonNull(LlmCall.current());
			this.asked.add(call.provider());
			return behaviour.of(call);
		};
		if (!future) {
			Caller<String> caller = this.simulation
				.run(() -> new BlockingDriver(this.simulation.engine()).call(plan, null, 0, body, fallback));
			return new Outcome(caller);
		}
		@Nullable Fallback<CompletionStage<String>> later = (fallback != null)
				? (failure) -> CompletableFuture.completedFuture(fallback.recover(failure)) : null;
		CompletableFuture<String> result = new FutureDriver(this.simulation.engine()).call(plan, null, 0,
				() -> CompletableFuture.completedFuture(body.run()), later);
		this.simulation.time.runFor(Duration.ofMinutes(5));
		return new Outcome(result);
	}

	private static String failsAt(LlmCall call, String provider, int status) {
		if (call.provider().equals(provider)) {
			throw status(status);
		}
		return "answer of " + call.provider();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void theNextProviderAnswersWhatTheFirstCannot(boolean future) {
		CallPlan plan = this.simulation.with("a").with("b").plan("a", "b");
		Outcome outcome = call(future, plan, (call) -> failsAt(call, "a", 500), null);
		assertThat(outcome.result()).isEqualTo("answer of b");
		assertThat(this.asked).containsExactly("a", "a", "a", "a", "b");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void theFirstProvidersErrorSurfacesWhenAllFail(boolean future) {
		CallPlan plan = this.simulation.with("a").with("b").with("c").plan("a", "b", "c");
		Outcome outcome = call(future, plan, (call) -> {
			throw new StatusException(call.provider().equals("a") ? 500 : 503, null);
		}, null);
		assertThat(outcome.thrown()).isInstanceOfSatisfying(StatusException.class,
				(ex) -> assertThat(ex.status()).isEqualTo(500));
		assertThat(outcome.report().provider()).isEqualTo("a");
		assertThat(this.asked).contains("a", "b", "c");
	}

	/** Cases C74, C75 and C81. */
	@ParameterizedTest
	@CsvSource({ "400, false", "400, true", "422, false", "422, true", "401, false", "403, true", "413, false",
			"404, true" })
	void whatIsWrongWithTheRequestReachesTheCallerAndNobodyElse(int status, boolean future) {
		CallPlan plan = this.simulation.with("a").with("b").plan("a", "b");
		Outcome outcome = call(future, plan, (call) -> failsAt(call, "a", status), null);
		assertThat(outcome.thrown()).isInstanceOf(StatusException.class);
		assertThat(this.asked).containsExactly("a");
	}

	@ParameterizedTest
	@CsvSource({ "404, INVALID_REQUEST, true", "400, INVALID_REQUEST, false", "422, INVALID_REQUEST, false",
			"401, UNAUTHORIZED, true", "413, TOO_LARGE, true", "529, SERVER_ERROR, false" })
	void whatFailsOverCanBeChosen(int status, FailureKind on, boolean takesOver) {
		this.simulation.calls = on(on);
		CallPlan plan = this.simulation.with("a").with("b").plan("a", "b");
		call(false, plan, (call) -> failsAt(call, "a", status), null);
		assertThat(this.asked.contains("b")).isEqualTo(takesOver);
	}

	@Test
	void anExceptionOfTheCallersOwnNeverFailsOver() {
		CallPlan plan = this.simulation.with("a").with("b").plan("a", "b");
		Outcome outcome = call(false, plan, (call) -> {
			throw new IllegalArgumentException("bug");
		}, (failure) -> "fallback");
		assertThat(outcome.thrown()).hasMessage("bug");
		assertThat(this.asked).containsExactly("a");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void anOpenBreakerFailsOverAtOnce(boolean future) {
		this.simulation.with("a", Simulation.EXACT, LimiterSettings.DEFAULTS, null, Simulation.threshold(1)).with("b");
		this.simulation.open("a");
		Outcome outcome = call(future, this.simulation.plan("a", "b"), (call) -> failsAt(call, "a", 500), null);
		assertThat(outcome.result()).isEqualTo("answer of b");
		assertThat(this.asked).containsExactly("b");
	}

	@Test
	void rateLimitsEscalateAfterThreeFailuresWhereAnotherProviderIsLeft() {
		CallPlan plan = this.simulation.with("a").with("b").plan("a", "b");
		call(false, plan, (call) -> failsAt(call, "a", 429), null);
		assertThat(this.asked).containsExactly("a", "a", "a", "b");
		this.asked.clear();
		call(false, this.simulation.plan("a"), (call) -> failsAt(call, "a", 429), null);
		assertThat(this.asked).as("without failover").hasSize(6);
	}

	@Test
	void aHintThatCannotFitFailsOverAtOnce() {
		CallPlan plan = this.simulation.with("a").with("b").plan("a", "b");
		Outcome outcome = call(false, plan, (call) -> {
			if (call.provider().equals("a")) {
				throw new StatusException(429, Duration.ofHours(1));
			}
			return "answer of b";
		}, null);
		assertThat(outcome.result()).isEqualTo("answer of b");
		assertThat(this.asked).containsExactly("a", "b");
	}

	/** Case C144. */
	@Test
	void aCallThatHadASideEffectIsNotHandedOver() {
		CallPlan plan = this.simulation.with("a").with("b").plan("a", "b");
		call(false, plan, (call) -> {
			call.sideEffect();
			return failsAt(call, "a", 529);
		}, null);
		assertThat(this.asked).containsExactly("a");
	}

	@ParameterizedTest
	@CsvSource({ "true, 2", "false, 1" })
	void whatTimedOutIsHandedOverOnlyIfItMayRunTwice(boolean idempotent, int providers) {
		this.simulation
			.with("a", Simulation.EXACT.withAttempts(1, 0), LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null,
					null)
			.with("b");
		Provider a = this.simulation.providers().get("a");
		CallOptions options = new CallOptions(a.settings().policy(), Integer.MAX_VALUE, idempotent,
				dev.llmresilience.Priority.NORMAL, List.of(), List.of());
		CallPlan plan = new CallPlan("m", new CallPlan.Target(a, options, null),
				List.of(new CallPlan.Target(this.simulation.providers().get("b"), options, null)));
		call(false, plan, (call) -> failsAt(call, "a", 504), null);
		assertThat(this.asked).hasSize(providers);
	}

	@Test
	void theTimeOfTheCallIsThatOfAllProvidersTogether() {
		this.simulation
			.with("a", Simulation.EXACT.withTimeouts(Duration.ofSeconds(10), Duration.ofSeconds(10)),
					LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null)
			.with("b");
		List<Duration> left = new ArrayList<>();
		call(false, this.simulation.plan("a", "b"), (call) -> {
			left.add(call.timeLeft());
			return failsAt(call, "a", 500);
		}, null);
		assertThat(left).containsExactly(Duration.ofSeconds(10), Duration.ofSeconds(9), Duration.ofSeconds(7),
				Duration.ofSeconds(3), Duration.ofSeconds(3));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void theFallbackMethodComesLast(boolean future) {
		CallPlan plan = this.simulation.with("a").with("b").plan("a", "b");
		Outcome outcome = call(future, plan, (call) -> {
			throw status(529);
		}, (failure) -> "fallback");
		assertThat(outcome.result()).isEqualTo("fallback");
		assertThat(this.asked).contains("a", "b");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void theFallbackMethodHidesNoBugThatShowsAtTheNextProvider(boolean future) {
		CallPlan plan = this.simulation.with("a").with("b").plan("a", "b");
		Outcome outcome = call(future, plan, (call) -> {
			if (call.provider().equals("b")) {
				throw new IllegalArgumentException("bug");
			}
			throw status(529);
		}, (failure) -> "fallback");
		assertThat(outcome.thrown()).isInstanceOf(StatusException.class);
		assertThat(outcome.thrown().getSuppressed()).anySatisfy((ex) -> assertThat(ex).hasMessage("bug"));
	}

	@Test
	void nobodyFallsBackForACallerThatWentAwayAtTheNextProvider() {
		CallPlan plan = this.simulation.with("a").with("b").plan("a", "b");
		Caller<String> caller = this.simulation.start(() -> new BlockingDriver(this.simulation.engine()).call(plan,
				null, 0, () -> failsAt(Objects.requireNonNull(LlmCall.current()), "a", 500), (failure) -> "fallback"));
		Caller<String> leaves = this.simulation
			.start(() -> new BlockingDriver(this.simulation.engine()).call(plan, null, 0, () -> {
				throw status(500);
			}, (failure) -> "fallback"));
		// Its last attempt at the first one is after 7 s.
		this.simulation.interruptAfter(Duration.ofMillis(7500), leaves);
		this.simulation.time.run();
		assertThat(caller.result()).isEqualTo("answer of b");
		assertThat(leaves.thrown()).isInstanceOf(StatusException.class);
	}

	@Test
	void everyFailoverIsAnEvent() {
		List<FailoverEvent> events = new ArrayList<>();
		this.simulation.listener = new RecordingListener(events);
		CallPlan plan = this.simulation.with("a").with("b").plan("a", "b");
		call(false, plan, (call) -> failsAt(call, "a", 529), null);
		assertThat(events).singleElement().satisfies((event) -> {
			assertThat(event.from()).isEqualTo("a");
			assertThat(event.to()).isEqualTo("b");
			assertThat(event.kind()).isEqualTo(FailureKind.OVERLOADED);
		});
	}

	@Test
	void theGuardsOfTheNextProviderHold() {
		this.simulation.with("a").with("b", Simulation.EXACT, LimiterSettings.DEFAULTS, null, Simulation.threshold(1));
		this.simulation.open("b");
		Outcome outcome = call(false, this.simulation.plan("a", "b"), (call) -> failsAt(call, "a", 500), null);
		assertThat(outcome.thrown()).isInstanceOf(StatusException.class);
		assertThat(this.asked).doesNotContain("b");
	}

	private static CallSettings on(FailureKind kind) {
		CallSettings built = CallSettings.DEFAULTS;
		Set<FailureKind> kinds = EnumSet.of(kind);
		return new CallSettings(built.attemptThread(), built.onOpen(), null, null, null, List.of(), kinds,
				built.rateLimitEscalateAfter());
	}

	/** What the simulated method does. */
	@FunctionalInterface
	private interface Behaviour {

		String of(LlmCall call) throws Throwable;

	}

	private record RecordingListener(List<FailoverEvent> events) implements GuardListener {

		@Override
		public void onTransition(dev.llmresilience.breaker.BreakerTransition transition) {
		}

		@Override
		public void onTransition(dev.llmresilience.breaker.QuotaTransition transition) {
		}

		@Override
		public void onFailover(FailoverEvent event) {
			this.events.add(event);
		}

	}

	private static final class Outcome {

		private @Nullable String result;

		private @Nullable Throwable thrown;

		Outcome(Caller<String> caller) {
			if (caller.failed()) {
				this.thrown = caller.thrown();
			}
			else {
				this.result = caller.result();
			}
		}

		Outcome(CompletableFuture<String> future) {
			assertThat(future).isDone();
			future.whenComplete((value, ex) -> {
				this.result = value;
				this.thrown = ex;
			}).isDone();
		}

		String result() {
			return Objects.requireNonNull(this.result, () -> "failed: " + this.thrown);
		}

		Throwable thrown() {
			return Objects.requireNonNull(this.thrown);
		}

		LlmCallReport report() {
			return Objects.requireNonNull(LlmCallReport.find(thrown()));
		}

	}

	@Test
	void aKindNeverFailsOverThatIsNotAmongThoseConfigured() {
		assertThat(dev.llmresilience.policy.FailoverRule.allows(Set.of(FailureKind.OVERLOADED),
				dev.llmresilience.GiveUpReason.ATTEMPTS, LlmFailure.of(FailureKind.SERVER_ERROR), false, true))
			.isFalse();
	}

}
