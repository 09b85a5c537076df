package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.CircuitOpenException;
import dev.llmresilience.DeadlineExceededException;
import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmCallReport.Attempt;
import dev.llmresilience.LlmCallReport.WaitCause;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmFailure.LatchScope;
import dev.llmresilience.QuotaExhaustedException;
import dev.llmresilience.RateLimitWaitException;
import dev.llmresilience.Priority;
import dev.llmresilience.ShutdownException;
import dev.llmresilience.breaker.BreakerSettings;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.engine.ProviderSettings.BudgetSettings;
import dev.llmresilience.engine.Simulation.Caller;
import dev.llmresilience.engine.Simulation.Failing;
import dev.llmresilience.engine.Simulation.Script;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.limiter.Permit;
import dev.llmresilience.limiter.RateLimiter;
import dev.llmresilience.policy.Jitter;
import dev.llmresilience.policy.RetryPolicy;
import dev.llmresilience.test.SimulatedProvider.StatusException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

class BlockingDriverTests {

	private final Simulation simulation = new Simulation();

	@AfterEach
	void closeSimulation() {
		this.simulation.close();
	}

	/* What the caller gets. */

	@Test
	void aRetrySucceedsAfterItsBackoff() {
		this.simulation.with("p");
		Caller<String> caller = this.simulation.run("p", new Script(status(500), status(503)));
		assertThat(caller.result()).isEqualTo("answer");
		assertThat(caller.ended()).isEqualTo(Duration.ofSeconds(2));
	}

	@Test
	void theVeryExceptionOfTheLastAttemptReachesTheCallerWithOneReport() {
		this.simulation.with("p");
		StatusException last = status(500);
		Caller<String> caller = this.simulation.run("p", new Script(status(500), status(502), status(500), last));
		assertThat(caller.thrown()).isSameAs(last);
		assertThat(last.getSuppressed()).hasSize(1);
		LlmCallReport report = caller.report();
		assertThat(report.provider()).isEqualTo("p");
		assertThat(report.reason()).isEqualTo(GiveUpReason.ATTEMPTS);
		assertThat(report.attempts()).containsExactly(
				new Attempt(FailureKind.SERVER_ERROR, 500, null, Duration.ZERO, WaitCause.NONE, Duration.ZERO),
				new Attempt(FailureKind.TIMEOUT, 502, null, Duration.ofSeconds(1), WaitCause.BACKOFF, Duration.ZERO),
				new Attempt(FailureKind.SERVER_ERROR, 500, null, Duration.ofSeconds(2), WaitCause.BACKOFF,
						Duration.ZERO),
				new Attempt(FailureKind.SERVER_ERROR, 500, null, Duration.ofSeconds(4), WaitCause.BACKOFF,
						Duration.ZERO));
	}

	@Test
	void anExceptionThatIsThrownAgainByALaterCallGetsNoSecondReport() {
		this.simulation.with("p");
		StatusException shared = status(400);
		this.simulation.run("p", new Script(shared));
		this.simulation.run("p", new Script(shared));
		assertThat(shared.getSuppressed()).hasSize(1);
	}

	@Test
	void theReportSaysWhenTheServerWantsTheCallerBack() {
		this.simulation.with("p");
		Caller<String> caller = this.simulation.run("p",
				new Script(new StatusException(429, Duration.ofSeconds(4236))));
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.RETRY_AFTER);
		assertThat(caller.report().retryAt()).isEqualTo(this.simulation.time.now().plusSeconds(4236));
		assertThat(caller.ended()).isZero();
	}

	@ParameterizedTest
	@ValueSource(ints = { 529, 503, 408, 409, 500, 502, 504, 429 })
	void aStatusThatCanPassIsRetried(int status) {
		this.simulation.with("p");
		Script script = new Script(status(status));
		assertThat(this.simulation.run("p", script).result()).isEqualTo("answer");
		assertThat(script.attempts()).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(ints = { 400, 401, 403, 404, 422 })
	void aStatusThatStaysIsNotRetried(int status) {
		this.simulation.with("p");
		Script script = new Script(status(status));
		assertThat(this.simulation.run("p", script).report().reason()).isEqualTo(GiveUpReason.NOT_RETRYABLE);
		assertThat(script.attempts()).isEqualTo(1);
	}

	@Test
	void theCallersOwnExceptionIsNotRetried() {
		this.simulation.with("p");
		IllegalStateException own = new IllegalStateException("does not parse");
		Script script = new Script(own);
		Caller<String> caller = this.simulation.run("p", script);
		assertThat(caller.thrown()).isSameAs(own);
		assertThat(caller.report().lastKind()).isEqualTo(FailureKind.APPLICATION);
		assertThat(script.attempts()).isEqualTo(1);
	}

	@Test
	void anErrorIsNotRetried() {
		this.simulation.with("p");
		Script script = new Script(new OutOfMemoryError("heap"));
		assertThat(this.simulation.run("p", script).thrown()).isInstanceOf(OutOfMemoryError.class);
		assertThat(script.attempts()).isEqualTo(1);
	}

	@Test
	void theCallersWordBeatsTheKind() {
		this.simulation.with("p");
		CallOptions options = new CallOptions(Simulation.EXACT, Integer.MAX_VALUE, true, Priority.NORMAL,
				List.of(IllegalStateException.class), List.of(StatusException.class));
		Script retried = new Script(new IllegalArgumentException(new IllegalStateException("in the cause chain")));
		assertThat(this.simulation.run(() -> this.simulation.call("p", options, retried, null)).result())
			.isEqualTo("answer");
		Script notRetried = new Script(status(503));
		assertThat(this.simulation.run(() -> this.simulation.call("p", options, notRetried, null)).report().reason())
			.isEqualTo(GiveUpReason.NOT_RETRYABLE);
	}

	@Test
	void maxAttemptsOfAMethodCapsBothLaddersTogether() {
		this.simulation.with("p");
		CallOptions options = new CallOptions(Simulation.EXACT, 3, true, Priority.NORMAL, List.of(), List.of());
		Script script = new Script(status(500), status(429), status(503), status(500));
		Caller<String> caller = this.simulation.run(() -> this.simulation.call("p", options, script, null));
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.ATTEMPTS);
		assertThat(script.attempts()).isEqualTo(3);
	}

	@Test
	void aCallThatMayNotRunTwiceIsNotRetriedWhenItsOutcomeIsUnknown() {
		this.simulation.with("p");
		CallOptions options = new CallOptions(Simulation.EXACT, Integer.MAX_VALUE, false, Priority.NORMAL, List.of(),
				List.of());
		Script unknown = new Script(status(504));
		assertThat(this.simulation.run(() -> this.simulation.call("p", options, unknown, null)).report().reason())
			.isEqualTo(GiveUpReason.OUTCOME_UNKNOWN);
		Script known = new Script(status(529));
		assertThat(this.simulation.run(() -> this.simulation.call("p", options, known, null)).result())
			.isEqualTo("answer");
	}

	@Test
	void nothingIsRetriedAfterASideEffect() {
		this.simulation.with("p");
		AtomicInteger attempts = new AtomicInteger();
		Caller<String> caller = this.simulation.run("p", () -> {
			attempts.incrementAndGet();
			current().sideEffect();
			throw status(503);
		});
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.SIDE_EFFECT);
		assertThat(attempts).hasValue(1);
	}

	@Test
	void aSideEffectOfACallWithinIsOneOfTheCallAround() {
		this.simulation.with("p");
		AtomicInteger charged = new AtomicInteger();
		Caller<String> caller = this.simulation.run("p", () -> {
			this.simulation.call("p", () -> {
				current().sideEffect();
				return charged.incrementAndGet();
			});
			throw status(503);
		});
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.SIDE_EFFECT);
		assertThat(charged).hasValue(1);
	}

	@Test
	void theBodyKnowsItsCall() {
		this.simulation.with("p");
		List<String> seen = new ArrayList<>();
		Caller<String> caller = this.simulation.run(() -> {
			String result = this.simulation.call("p", () -> {
				LlmCall call = current();
				seen.add(call.provider() + " " + call.attempt() + " " + call.timeLeft().toSeconds());
				if (call.attempt() < 3) {
					throw status(503);
				}
				return "answer";
			});
			assertThat(LlmCall.current()).isNull();
			return result;
		});
		caller.result();
		assertThat(seen).containsExactly("p 1 600", "p 2 599", "p 3 597");
	}

	/* Deadlines and timeouts. */

	@Test
	void aWaitThatCannotFitTheDeadlineIsNotBegun() {
		this.simulation.with("p", Simulation.EXACT.withTimeouts(Duration.ofSeconds(5), Duration.ofSeconds(5)),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
		Caller<String> caller = this.simulation.run("p", new Failing(503));
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.DEADLINE);
		assertThat(caller.ended()).isEqualTo(Duration.ofSeconds(3));
	}

	@Test
	void aHintThatCannotFitTheDeadlineEndsTheCallAtOnce() {
		this.simulation.with("p", Simulation.EXACT.withTimeouts(Duration.ofSeconds(30), Duration.ofSeconds(30)),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
		Caller<String> caller = this.simulation.run("p", new Script(new StatusException(429, Duration.ofSeconds(60))));
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.RETRY_AFTER);
		assertThat(caller.ended()).isZero();
	}

	@Test
	void anAttemptOverItsTimeIsInterruptedAndRetried() {
		this.simulation.with("p", Simulation.EXACT.withTimeouts(Duration.ofMinutes(1), Duration.ofSeconds(10)),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
		AtomicInteger attempts = new AtomicInteger();
		Caller<String> caller = this.simulation.run("p", () -> {
			if (attempts.incrementAndGet() == 1) {
				this.simulation.time.sleep(Duration.ofHours(1));
			}
			return "answer";
		});
		assertThat(caller.result()).isEqualTo("answer");
		assertThat(caller.ended()).isEqualTo(Duration.ofSeconds(11));
		assertThat(caller.interrupted()).isFalse();
	}

	@Test
	void anAttemptThatTimesOutForGoodLeavesNoInterruptFlagBehind() {
		this.simulation.with("p",
				Simulation.EXACT.withTimeouts(Duration.ofMinutes(1), Duration.ofSeconds(10)).withAttempts(1, 0),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
		Caller<String> caller = this.simulation.run("p", () -> {
			this.simulation.time.sleep(Duration.ofHours(1));
			return "late";
		});
		assertThat(caller.report().attempts()).extracting(Attempt::kind).containsExactly(FailureKind.TIMEOUT);
		assertThat(caller.interrupted()).isFalse();
		assertThat(this.simulation.engine().watch().size()).isZero();
	}

	@Test
	void anAnswerThatComesInspiteOfTheInterruptIsReturnedWithoutAFlag() {
		this.simulation.with("p", Simulation.EXACT.withTimeouts(Duration.ofMinutes(1), Duration.ofSeconds(10)),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
		Caller<String> caller = this.simulation.run("p", () -> {
			try {
				this.simulation.time.sleep(Duration.ofHours(1));
			}
			catch (IllegalStateException ex) {
				return "answer";
			}
			return "late";
		});
		assertThat(caller.result()).isEqualTo("answer");
		assertThat(caller.interrupted()).isFalse();
	}

	@Test
	void anAttemptIsAlsoBoundedByTheTimeLeftForTheCall() {
		this.simulation.with("p", Simulation.EXACT.withTimeouts(Duration.ofSeconds(3), Duration.ofSeconds(10)),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
		Caller<String> caller = this.simulation.run("p", () -> {
			this.simulation.time.sleep(Duration.ofHours(1));
			return "late";
		});
		assertThat(caller.ended()).isEqualTo(Duration.ofSeconds(3));
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.DEADLINE);
	}

	@Test
	void attemptsMayTakeLongerWithEachRetryWhereThePolicySaysSo() {
		RetryPolicy d = Simulation.EXACT;
		RetryPolicy growing = new RetryPolicy(3, d.rateLimitRetries(), null, d.baseDelay(), d.rateLimitBaseDelay(),
				d.maxDelay(), d.multiplier(), d.jitter(), d.jitterFactor(), d.retryAfterSpread(), d.maxRetryAfter(),
				Duration.ofMinutes(10), Duration.ofSeconds(10), 2);
		this.simulation.with("p", growing, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
		Caller<String> caller = this.simulation.run("p", () -> {
			this.simulation.time.sleep(Duration.ofHours(1));
			return "late";
		});
		assertThat(caller.ended()).isEqualTo(Duration.ofSeconds(10 + 1 + 20 + 2 + 40));
	}

	@Test
	void aCallThatIsOutOfTimeBeforeItsFirstAttemptSaysSo() {
		this.simulation.with("p", Simulation.EXACT.withTimeouts(Duration.ZERO, Duration.ofSeconds(1)),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
		Script script = new Script();
		Caller<String> caller = this.simulation.run("p", script);
		assertThat(caller.thrown()).isInstanceOf(DeadlineExceededException.class);
		assertThat(script.attempts()).isZero();
	}

	@Test
	void anAttemptThatIsNotOverItsTimeIsNotInterruptedByALateWatch() {
		this.simulation.with("p");
		Caller<String> caller = this.simulation.run(() -> {
			AttemptWatch watch = this.simulation.engine().watch();
			long now = this.simulation.time.nanoTime();
			RunningAttempt attempt = watch.begin(now + 1);
			attempt.expire(now, this.simulation.time);
			boolean interrupted = Thread.currentThread().isInterrupted();
			watch.end(attempt);
			return "interrupted: " + interrupted;
		});
		assertThat(caller.result()).isEqualTo("interrupted: false");
	}

	/* Interrupts. */

	@Test
	void anInterruptDuringTheBackoffEndsTheCallAtOnce() {
		this.simulation.with("p");
		StatusException failure = status(503);
		Script script = new Script(failure);
		Caller<String> caller = this.simulation.start("p", script);
		this.simulation.interruptAfter(Duration.ofMillis(500), caller);
		this.simulation.time.run();
		assertThat(caller.thrown()).isSameAs(failure);
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.CANCELLED);
		assertThat(caller.interrupted()).isTrue();
		assertThat(caller.ended()).isEqualTo(Duration.ofMillis(500));
		assertThat(script.attempts()).isEqualTo(1);
		assertThat(this.simulation.budget("p").tokens()).isEqualTo(50);
	}

	@Test
	void anInterruptWhileItWaitsForTheLimiterEndsTheCallAtOnceAndFreesThePlace() {
		this.simulation.with("p", Simulation.EXACT, Simulation.ONE_PER_SECOND, BudgetSettings.DEFAULTS,
				BreakerSettings.DEFAULTS);
		this.simulation.start("p", new Script());
		Script script = new Script();
		Caller<String> caller = this.simulation.start("p", script);
		Caller<String> next = this.simulation.start("p", new Script());
		this.simulation.interruptAfter(Duration.ofMillis(500), caller);
		this.simulation.time.run();
		assertThat(caller.thrown()).isInstanceOf(CancellationException.class);
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.CANCELLED);
		assertThat(caller.interrupted()).isTrue();
		assertThat(caller.ended()).isEqualTo(Duration.ofMillis(500));
		assertThat(script.attempts()).isZero();
		assertThat(next.ended()).isLessThan(Duration.ofMillis(1100));
		assertThat(this.simulation.providers().get("p").limiter().waiting()).isZero();
	}

	@Test
	void anInterruptDuringTheAttemptEndsTheCallAndIsNeutralForTheBreaker() {
		this.simulation.with("p", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF),
				BudgetSettings.DEFAULTS, Simulation.threshold(1));
		AtomicInteger attempts = new AtomicInteger();
		Caller<String> caller = this.simulation.start("p", () -> {
			attempts.incrementAndGet();
			this.simulation.time.waiter().await(Duration.ofMinutes(1).toNanos());
			return "late";
		});
		this.simulation.interruptAfter(Duration.ofSeconds(2), caller);
		this.simulation.time.run();
		assertThat(caller.thrown()).isInstanceOf(InterruptedException.class);
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.CANCELLED);
		assertThat(attempts).hasValue(1);
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.CLOSED);
	}

	@Test
	void theInterruptFlagThatAWrapperLostIsRestored() {
		this.simulation.with("p");
		Script script = new Script(new IllegalStateException(new InterruptedException("in a sleep")));
		Caller<String> caller = this.simulation.run("p", script);
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.CANCELLED);
		assertThat(caller.interrupted()).isTrue();
	}

	@Test
	void theInterruptOfAnotherThreadDoesNotSetTheFlag() {
		this.simulation.with("p");
		Script script = new Script(new ExecutionException(new InterruptedException("on a worker")));
		Caller<String> caller = this.simulation.run("p", script);
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.CANCELLED);
		assertThat(caller.interrupted()).isFalse();
	}

	@Test
	void anInterruptedCallerMakesNoFurtherAttemptEvenWhereNoWaitIsDue() {
		this.simulation.with("p", Simulation.EXACT.withBackoff(Jitter.NONE, Duration.ZERO, Duration.ZERO),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), BudgetSettings.DEFAULTS, null);
		// A classifier that overlooks the flag.
		this.simulation.classifier = (thrown, context) -> LlmFailure.of(FailureKind.SERVER_ERROR);
		AtomicInteger attempts = new AtomicInteger();
		Caller<String> caller = this.simulation.run("p", () -> {
			attempts.incrementAndGet();
			Thread.currentThread().interrupt();
			throw status(500);
		});
		assertThat(attempts).hasValue(1);
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.CANCELLED);
		assertThat(caller.interrupted()).isTrue();
		assertThat(this.simulation.budget("p").tokens()).isEqualTo(50);
	}

	@Test
	void aRetryThatIsInterruptedGivesItsTokenBack() {
		this.simulation.with("p");
		AtomicInteger attempts = new AtomicInteger();
		this.simulation.run("p", () -> {
			if (attempts.incrementAndGet() == 1) {
				throw status(503);
			}
			throw new InterruptedException();
		});
		assertThat(attempts).hasValue(2);
		assertThat(this.simulation.budget("p").tokens()).isEqualTo(50);
	}

	/* Guards. */

	@Test
	void aRetryThatMeetsAnOpenBreakerThrowsTheProvidersException() {
		this.simulation.with("p", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF),
				BudgetSettings.DEFAULTS, Simulation.threshold(2));
		Failing failing = new Failing(503);
		Caller<String> caller = this.simulation.run("p", failing);
		assertThat(caller.thrown()).isInstanceOf(StatusException.class);
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.BREAKER);
		assertThat(caller.report().retryAt()).isEqualTo(this.simulation.breaker("p").nextTrialAt());
		assertThat(failing.attempts()).isEqualTo(2);
		// One retry was made, the other was not paid for.
		assertThat(this.simulation.budget("p").tokens()).isBetween(49.0, 49.1);
	}

	@Test
	void aRetryWhoseBreakerOpensDuringTheBackoffGivesItsTokenBack() {
		this.simulation.with("p", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF),
				BudgetSettings.DEFAULTS, Simulation.threshold(100));
		StatusException failure = status(503);
		Script script = new Script(failure);
		Caller<String> caller = this.simulation.start("p", script);
		this.simulation.time.schedule(Duration.ofMillis(500).toNanos(), () -> this.simulation.breaker("p").forceOpen());
		this.simulation.time.run();
		assertThat(caller.thrown()).isSameAs(failure);
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.BREAKER);
		assertThat(this.simulation.budget("p").tokens()).isEqualTo(50);
	}

	@Test
	void aCallIsRefusedWhileTheBreakerIsOpenAndToldUntilWhen() {
		this.simulation.with("p", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null,
				Simulation.threshold(1));
		this.simulation.open("p");
		Script script = new Script();
		Caller<String> caller = this.simulation.run("p", script);
		assertThat(caller.thrown()).isInstanceOfSatisfying(CircuitOpenException.class,
				(ex) -> assertThat(ex.retryAt()).isEqualTo(this.simulation.breaker("p").nextTrialAt()));
		assertThat(caller.report().attempts()).isEmpty();
		assertThat(script.attempts()).isZero();
		assertThat(this.simulation.breaker("p").snapshot().rejectedCalls()).isEqualTo(1);
	}

	@Test
	void openingWakesAndRefusesThoseWhoWaitInTheLimiter() {
		this.simulation.with("p", Simulation.EXACT.withAttempts(1, 0), Simulation.ONE_PER_SECOND, null,
				Simulation.threshold(1));
		this.simulation.start("p", () -> {
			this.simulation.time.sleep(Duration.ofMillis(300));
			throw status(500);
		});
		Script script = new Script();
		Caller<String> waiting = this.simulation.start("p", script);
		this.simulation.time.run();
		assertThat(waiting.thrown()).isInstanceOf(CircuitOpenException.class);
		assertThat(waiting.ended()).isEqualTo(Duration.ofMillis(300));
		assertThat(script.attempts()).isZero();
	}

	@Test
	void aCallThatTheBreakerRefusesAfterItsWaitGivesTheSlotBack() {
		this.simulation.with("p", Simulation.EXACT,
				LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(60.0, 2), null, Simulation.threshold(1));
		this.simulation.openUntilTrial("p");
		Caller<String> trial = this.simulation.start("p", () -> {
			this.simulation.time.sleep(Duration.ofMillis(100));
			return "answer";
		});
		Caller<String> other = this.simulation.start("p", new Script());
		this.simulation.time.run();
		assertThat(trial.result()).isEqualTo("answer");
		assertThat(other.thrown()).isInstanceOf(CircuitOpenException.class);
		assertThat(this.simulation.providers().get("p").limiter().level()).isBetween(1.0, 1.2);
	}

	@Test
	void aWaitThatCannotFitIsRefusedWithTheNeededWaitAndTheProperty() {
		this.simulation.with("p", Simulation.EXACT, Simulation.ONE_PER_SECOND.withWaiting(Duration.ofMillis(500), null),
				BudgetSettings.DEFAULTS, null);
		this.simulation.start("p", new Script());
		Caller<String> caller = this.simulation.run("p", new Script());
		assertThat(caller.thrown()).isInstanceOfSatisfying(RateLimitWaitException.class, (ex) -> {
			assertThat(ex.limitedBy()).isEqualTo("llm.resilience.providers.p.limiter.max-wait");
			assertThat(ex.neededWait()).isBetween(Duration.ofSeconds(1), Duration.ofMillis(1050));
		});
		assertThat(caller.ended()).isZero();
	}

	@Test
	void aWaitThatRunsOutOfMaxWaitSaysSo() {
		this.simulation.with("p", Simulation.EXACT, Simulation.ONE_PER_SECOND.withWaiting(Duration.ofSeconds(2), null),
				BudgetSettings.DEFAULTS, null);
		this.simulation.start("p", new Script());
		Caller<String> caller = this.simulation.start("p", new Script());
		this.simulation.time.schedule(1,
				() -> pause(this.simulation.providers().get("p").limiter(), Duration.ofMinutes(1)));
		this.simulation.time.run();
		assertThat(caller.thrown()).isInstanceOfSatisfying(RateLimitWaitException.class, (ex) -> {
			assertThat(ex.limitedBy()).isEqualTo("llm.resilience.providers.p.limiter.max-wait");
			assertThat(ex.neededWait()).isGreaterThanOrEqualTo(Duration.ofSeconds(2));
		});
		assertThat(caller.ended()).isEqualTo(Duration.ofSeconds(2));
	}

	@Test
	void aRateLimitThatTheLimiterPacesSpendsNoBudgetAndNoBackoff() {
		this.simulation.with("p", Simulation.EXACT,
				LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(600.0, 5), BudgetSettings.DEFAULTS, null);
		Caller<String> caller = this.simulation.run("p", new Script(new StatusException(429, Duration.ofSeconds(3))));
		assertThat(caller.result()).isEqualTo("answer");
		assertThat(caller.ended()).isBetween(Duration.ofSeconds(3), Duration.ofMillis(3100));
		assertThat(this.simulation.budget("p").tokens()).isEqualTo(50);
	}

	@Test
	void aRateLimitHoldsBackOtherCallersOfTheSameEntryButNotOfAnother() {
		this.simulation
			.with("a", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(600.0, 5), null,
					null)
			.with("b", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(600.0, 5), null,
					null);
		this.simulation.start("a", new Script(new StatusException(429, Duration.ofSeconds(46))));
		Caller<String> same = this.simulation.startAfter(Duration.ofSeconds(1),
				() -> this.simulation.call("a", new Script()));
		Caller<String> other = this.simulation.startAfter(Duration.ofSeconds(1),
				() -> this.simulation.call("b", new Script()));
		this.simulation.time.run();
		assertThat(same.ended()).isGreaterThanOrEqualTo(Duration.ofSeconds(46));
		assertThat(other.ended()).isEqualTo(Duration.ofSeconds(1));
	}

	@Test
	void aHundredCallsToADeadProviderShareTheirRetries() {
		this.simulation.with("p", Simulation.EXACT.withAttempts(4, 3),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), new BudgetSettings(10, 0.1, 0), null);
		Failing failing = new Failing(503);
		List<GiveUpReason> reasons = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			reasons.add(this.simulation.run("p", failing).report().reason());
		}
		assertThat(failing.attempts()).isEqualTo(110);
		assertThat(reasons.subList(0, 3)).containsOnly(GiveUpReason.ATTEMPTS);
		assertThat(reasons.subList(3, 100)).containsOnly(GiveUpReason.BUDGET);
	}

	@Test
	void aHundredCallsAtOnceToADeadProviderShareTheirRetriesToo() {
		this.simulation.with("p", Simulation.EXACT.withAttempts(4, 3),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), new BudgetSettings(10, 0.1, 0), null);
		Failing failing = new Failing(503);
		for (int i = 0; i < 100; i++) {
			this.simulation.start("p", failing);
		}
		this.simulation.time.run();
		assertThat(failing.attempts()).isEqualTo(110);
	}

	@Test
	void theRateLimitLadderCountsForTheBreakerOnceItIsSpent() {
		this.simulation.with("p", Simulation.EXACT.withAttempts(4, 1),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, Simulation.threshold(3));
		this.simulation.run("p", new Failing(429));
		assertThat(this.simulation.breaker("p").snapshot().consecutiveFailures()).isEqualTo(1);
	}

	@Test
	void rateLimitsThatPassLeaveTheBreakerClosed() {
		this.simulation.with("p", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null,
				Simulation.threshold(1));
		for (int i = 0; i < 7; i++) {
			this.simulation.run("p", new Script(status(429), status(429))).result();
		}
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.CLOSED);
	}

	@Test
	void requestsThatAreWrongShowThatTheProviderIsUp() {
		this.simulation.with("p", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null,
				Simulation.threshold(5));
		for (int i = 0; i < 10; i++) {
			this.simulation.run("p", new Failing(400));
		}
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.CLOSED);
	}

	@Test
	void anExhaustedAccountIsAskedOnceAndThenRefusedLocallyForAllOfItsEntries() {
		this.simulation.with("a").with("b");
		this.simulation.classifier = (thrown, context) -> exhausted(LatchScope.ACCOUNT);
		Failing failing = new Failing(429);
		Caller<String> first = this.simulation.run("a", failing);
		assertThat(first.thrown()).isInstanceOf(StatusException.class);
		assertThat(this.simulation.run("a", failing).thrown()).isInstanceOf(QuotaExhaustedException.class);
		assertThat(this.simulation.run("b", failing).thrown()).isInstanceOf(QuotaExhaustedException.class);
		assertThat(failing.attempts()).isEqualTo(1);
		assertThat(this.simulation.breaker("a").state()).isEqualTo(BreakerState.CLOSED);
	}

	@Test
	void anExhaustedQuotaOfOneEntryLeavesTheOthersOfTheAccountAlone() {
		this.simulation.with("a").with("b");
		this.simulation.classifier = (thrown, context) -> exhausted(LatchScope.PROVIDER);
		this.simulation.run("a", new Failing(429));
		assertThat(this.simulation.run("a", new Script()).thrown()).isInstanceOf(QuotaExhaustedException.class);
		assertThat(this.simulation.run("b", new Script()).result()).isEqualTo("answer");
	}

	@Test
	void theProbeOfAnExhaustedAccountClearsItForAllEntries() {
		this.simulation.with("a").with("b");
		this.simulation.classifier = (thrown, context) -> exhausted(LatchScope.ACCOUNT);
		this.simulation.run("a", new Failing(429));
		this.simulation.time.runFor(Duration.ofMinutes(5));
		assertThat(this.simulation.run("b", new Script()).result()).isEqualTo("answer");
		assertThat(this.simulation.run("a", new Script()).result()).isEqualTo("answer");
	}

	@ParameterizedTest
	@CsvSource({ "400, CLOSED", "429, HALF_OPEN", "401, HALF_OPEN", "500, OPEN" })
	void aTrialThatMeetsAStatusLeavesTheBreakerSo(int status, BreakerState state) {
		this.simulation.with("p", Simulation.EXACT.withAttempts(1, 0),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, Simulation.threshold(1));
		this.simulation.openUntilTrial("p");
		this.simulation.run("p", new Failing(status));
		assertThat(this.simulation.breaker("p").state()).isEqualTo(state);
		assertThat(this.simulation.breaker("p").snapshot().trialInFlight()).isFalse();
	}

	@Test
	void aTrialThatDiesByAnErrorFreesItsPlace() {
		assertThatTheNextCallerIsTheTrialAfter(LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), () -> {
			throw new StackOverflowError();
		});
	}

	@Test
	void aTrialThatIsInterruptedFreesItsPlace() {
		assertThatTheNextCallerIsTheTrialAfter(LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), () -> {
			throw new InterruptedException();
		});
	}

	@Test
	void aTrialWhoseFailureCannotBeJudgedFreesItsPlace() {
		this.simulation.classifier = (thrown, context) -> {
			throw new NoClassDefFoundError("some/optional/Type");
		};
		assertThatTheNextCallerIsTheTrialAfter(LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), () -> {
			throw status(500);
		});
	}

	@Test
	void aTrialThatTheLimiterRefusesFreesItsPlace() {
		this.simulation.with("p", Simulation.EXACT, Simulation.ONE_PER_SECOND.withWaiting(null, 0), null,
				Simulation.threshold(1));
		this.simulation.openUntilTrial("p");
		assertThat(this.simulation.providers().get("p").limiter().tryAcquire(permit(), this.simulation.time.nanoTime()))
			.isTrue();
		assertThat(this.simulation.run("p", new Script()).thrown()).isInstanceOf(RateLimitWaitException.class);
		assertThat(this.simulation.breaker("p").snapshot().trialInFlight()).isFalse();
		this.simulation.time.runFor(Duration.ofSeconds(2));
		assertThat(this.simulation.run("p", new Script()).result()).isEqualTo("answer");
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.CLOSED);
	}

	@Test
	void aTrialThatHangsLosesItsPlaceToTheNextCaller() {
		this.simulation.with("p", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null,
				Simulation.threshold(1));
		this.simulation.openUntilTrial("p");
		this.simulation.start("p", () -> {
			this.simulation.time.sleep(Duration.ofMinutes(3));
			return "at last";
		});
		Caller<String> early = this.simulation.startAfter(Duration.ofSeconds(119),
				() -> this.simulation.call("p", new Script()));
		Caller<String> next = this.simulation.startAfter(Duration.ofMinutes(2),
				() -> this.simulation.call("p", new Script()));
		this.simulation.time.run();
		assertThat(early.thrown()).isInstanceOf(CircuitOpenException.class);
		assertThat(next.result()).isEqualTo("answer");
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.CLOSED);
	}

	/* Judges that break. */

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aClassifierThatThrowsCostsTheCallerNeitherTheExceptionNorAReport(boolean error) {
		this.simulation.with("p");
		this.simulation.classifier = (thrown, context) -> {
			if (error) {
				throw new NoClassDefFoundError("some/optional/Type");
			}
			throw new IllegalArgumentException("a bug");
		};
		StatusException failure = status(503);
		Caller<String> caller = this.simulation.run("p", new Script(failure));
		assertThat(caller.thrown()).isSameAs(failure);
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.NOT_RETRYABLE);
		assertThat(caller.report().lastKind()).isEqualTo(FailureKind.APPLICATION);
		assertThat(failure.getSuppressed()).hasSize(2);
	}

	@Test
	void aClassifierThatThrowsTheFailureItselfChangesNothing() {
		this.simulation.with("p");
		this.simulation.classifier = (thrown, context) -> {
			throw (RuntimeException) thrown;
		};
		StatusException failure = status(503);
		Caller<String> caller = this.simulation.run("p", new Script(failure));
		assertThat(caller.thrown()).isSameAs(failure);
		assertThat(failure.getSuppressed()).hasSize(1);
	}

	/* Nested calls. */

	@Test
	void theInnermostCallRetriesAndTheOuterPassesTheFailureThrough() {
		this.simulation.with("outer").with("inner");
		Failing failing = new Failing(500);
		AtomicInteger outerAttempts = new AtomicInteger();
		Caller<String> caller = this.simulation.run("outer", () -> {
			outerAttempts.incrementAndGet();
			return this.simulation.call("inner", failing);
		});
		assertThat(failing.attempts()).isEqualTo(4);
		assertThat(outerAttempts).hasValue(1);
		assertThat(caller.thrown()).isInstanceOf(StatusException.class);
		assertThat(caller.thrown().getSuppressed()).hasSize(1);
		assertThat(caller.report().provider()).isEqualTo("inner");
		assertThat(this.simulation.breaker("outer").snapshot().consecutiveFailures()).isZero();
		assertThat(this.simulation.breaker("inner").snapshot().consecutiveFailures()).isEqualTo(4);
	}

	@Test
	void aNestedFailureThatIsWrappedOnItsWayOutIsNotRetriedEither() {
		this.simulation.with("outer").with("inner");
		Failing failing = new Failing(500);
		this.simulation.run("outer", () -> {
			try {
				return this.simulation.call("inner", failing);
			}
			catch (StatusException ex) {
				throw new IllegalStateException("wrapped", ex);
			}
		});
		assertThat(failing.attempts()).isEqualTo(4);
	}

	@Test
	void aFailureOfItsOwnAfterANestedOneIsRetried() {
		this.simulation.with("outer").with("inner");
		AtomicInteger outerAttempts = new AtomicInteger();
		Caller<String> caller = this.simulation.run("outer", () -> {
			try {
				this.simulation.call("inner", new Failing(400));
			}
			catch (StatusException ex) {
				// The outer method goes on without.
			}
			if (outerAttempts.incrementAndGet() == 1) {
				throw status(503);
			}
			return "answer";
		});
		assertThat(caller.result()).isEqualTo("answer");
		assertThat(outerAttempts).hasValue(2);
	}

	@Test
	void aNestedRefusalIsNotRetriedOutside() {
		this.simulation.with("outer")
			.with("inner", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null,
					Simulation.threshold(1));
		this.simulation.open("inner");
		AtomicInteger outerAttempts = new AtomicInteger();
		Caller<String> caller = this.simulation.run("outer", () -> {
			outerAttempts.incrementAndGet();
			return this.simulation.call("inner", new Script());
		});
		assertThat(caller.thrown()).isInstanceOf(CircuitOpenException.class);
		assertThat(outerAttempts).hasValue(1);
		assertThat(this.simulation.breaker("outer").snapshot().consecutiveFailures()).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "true, CLOSED", "false, OPEN" })
	void aNestedCallOfTheSameEntryIsPartOfTheTrial(boolean up, BreakerState state) {
		this.simulation.with("p", Simulation.EXACT.withAttempts(1, 0),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, Simulation.threshold(1));
		this.simulation.openUntilTrial("p");
		Script script = up ? new Script() : new Script(status(500));
		this.simulation.run("p", () -> this.simulation.call("p", script));
		assertThat(script.attempts()).isEqualTo(1);
		assertThat(this.simulation.breaker("p").state()).isEqualTo(state);
	}

	@Test
	void aNestedCallWithoutAVerdictLeavesTheTrialToTheCallAroundIt() {
		this.simulation.with("p", Simulation.EXACT.withAttempts(1, 0),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, Simulation.threshold(1));
		this.simulation.openUntilTrial("p");
		List<Boolean> inFlight = new ArrayList<>();
		this.simulation.run("p", () -> {
			assertThat(catchThrowable(() -> this.simulation.call("p", new Script(status(401))))).isNotNull();
			inFlight.add(this.simulation.breaker("p").snapshot().trialInFlight());
			return "answer";
		});
		assertThat(inFlight).containsExactly(true);
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.CLOSED);
	}

	@Test
	void aNestedCallOfTheSameAccountIsPartOfTheProbe() {
		this.simulation.with("a").with("b");
		this.simulation.providers().get("a").accountQuota().latch("spend_limit", null);
		this.simulation.time.runFor(Duration.ofMinutes(5));
		Caller<String> caller = this.simulation.run("a", () -> this.simulation.call("b", new Script()));
		assertThat(caller.result()).isEqualTo("answer");
		assertThat(this.simulation.providers().get("a").accountQuota().isLatched()).isFalse();
	}

	/* Fallbacks. */

	@ParameterizedTest
	@CsvSource({ "503, true", "429, true", "401, true", "400, false", "422, false" })
	void aFallbackAnswersUnlessItWouldHideAWrongRequest(int status, boolean answers) {
		this.simulation.with("p");
		Caller<String> caller = this.simulation.run(() -> this.simulation.call("p", this.simulation.options("p"),
				new Failing(status), (failure) -> "fallback after " + failure.getMessage()));
		if (answers) {
			assertThat(caller.result()).isEqualTo("fallback after HTTP " + status);
		}
		else {
			assertThat(caller.thrown()).isInstanceOf(StatusException.class);
		}
	}

	@Test
	void aFallbackDoesNotHideTheCallersOwnException() {
		this.simulation.with("p");
		Caller<String> caller = this.simulation.run(() -> this.simulation.call("p", this.simulation.options("p"),
				new Script(new IllegalStateException("a bug")), (failure) -> "fallback"));
		assertThat(caller.thrown()).hasMessage("a bug");
	}

	@Test
	void aFallbackAnswersForACallThatWasRefused() {
		this.simulation.with("p", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null,
				Simulation.threshold(1));
		this.simulation.open("p");
		Caller<String> caller = this.simulation.run(() -> this.simulation.call("p", this.simulation.options("p"),
				new Script(), (failure) -> failure.getClass().getSimpleName()));
		assertThat(caller.result()).isEqualTo("CircuitOpenException");
	}

	@Test
	void aFallbackDoesNotAnswerACallerThatWentAway() {
		this.simulation.with("p");
		Caller<String> caller = this.simulation.start(() -> this.simulation.call("p", this.simulation.options("p"),
				new Failing(503), (failure) -> "fallback"));
		this.simulation.interruptAfter(Duration.ofMillis(500), caller);
		this.simulation.time.run();
		assertThat(caller.thrown()).isInstanceOf(StatusException.class);
	}

	@Test
	void aFallbackOutsideDoesNotAnswerForANestedCallThatWasCancelled() {
		this.simulation.with("outer").with("inner");
		Caller<String> caller = this.simulation
			.start(() -> this.simulation.call("outer", this.simulation.options("outer"),
					() -> this.simulation.call("inner", new Failing(503)), (failure) -> "fallback"));
		this.simulation.interruptAfter(Duration.ofMillis(500), caller);
		this.simulation.time.run();
		assertThat(caller.thrown()).isInstanceOf(StatusException.class);
	}

	@Test
	void aFallbackOutsideAnswersForANestedCallThatFailed() {
		this.simulation.with("outer").with("inner");
		Caller<String> caller = this.simulation
			.run(() -> this.simulation.call("outer", this.simulation.options("outer"),
					() -> this.simulation.call("inner", new Failing(503)), (failure) -> "fallback"));
		assertThat(caller.result()).isEqualTo("fallback");
	}

	@Test
	void whatTheFallbackThrowsReachesTheCaller() {
		this.simulation.with("p");
		Caller<String> caller = this.simulation
			.run(() -> this.simulation.call("p", this.simulation.options("p"), new Failing(401), (failure) -> {
				throw new IllegalStateException("fallback failed", failure);
			}));
		assertThat(caller.thrown()).hasMessage("fallback failed");
	}

	/* Shutdown. */

	@Test
	void shutdownEndsEveryWaitWithAnExceptionThatSaysSo() {
		this.simulation.with("backoff").with("limited", Simulation.EXACT, Simulation.ONE_PER_SECOND, null, null);
		StatusException failure = status(503);
		Script script = new Script(failure);
		Caller<String> inBackoff = this.simulation.start("backoff", script);
		this.simulation.start("limited", new Script());
		List<Caller<String>> inLimiter = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			inLimiter.add(this.simulation.start("limited", new Script()));
		}
		this.simulation.time.schedule(Duration.ofMillis(500).toNanos(), this::shutDown);
		this.simulation.time.run();
		assertThat(inBackoff.thrown()).isInstanceOf(ShutdownException.class).hasCause(failure);
		assertThat(inBackoff.ended()).isEqualTo(Duration.ofMillis(500));
		assertThat(script.attempts()).isEqualTo(1);
		assertThat(inLimiter).allSatisfy((caller) -> {
			assertThat(caller.thrown()).isInstanceOf(ShutdownException.class);
			assertThat(caller.ended()).isEqualTo(Duration.ofMillis(500));
		});
		assertThat(this.simulation.budget("backoff").tokens()).isEqualTo(50);
	}

	@Test
	void afterShutdownNoCallGoesOut() {
		this.simulation.with("p");
		shutDown();
		Script script = new Script();
		assertThat(this.simulation.run("p", script).thrown()).isInstanceOf(ShutdownException.class);
		assertThat(script.attempts()).isZero();
	}

	@Test
	void shutdownLetsAnAttemptInFlightFinish() {
		this.simulation.with("p");
		Caller<String> caller = this.simulation.start("p", () -> {
			this.simulation.time.sleep(Duration.ofSeconds(2));
			return "answer";
		});
		this.simulation.time.schedule(Duration.ofSeconds(1).toNanos(), this::shutDown);
		this.simulation.time.run();
		assertThat(caller.result()).isEqualTo("answer");
	}

	private void shutDown() {
		this.simulation.engine().close();
		this.simulation.providers().close();
	}

	private void assertThatTheNextCallerIsTheTrialAfter(LimiterSettings limiter, BlockingDriver.Body<String> trial) {
		this.simulation.with("p", Simulation.EXACT, limiter, null, Simulation.threshold(1));
		this.simulation.openUntilTrial("p");
		this.simulation.run("p", trial).thrown();
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.HALF_OPEN);
		assertThat(this.simulation.breaker("p").snapshot().trialInFlight()).isFalse();
		assertThat(this.simulation.run("p", new Script()).result()).isEqualTo("answer");
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.CLOSED);
	}

	private static LlmCall current() {
		@Nullable LlmCall call = LlmCall.current();
		return Objects.requireNonNull(call, "no call");
	}

	private static StatusException status(int status) {
		return Simulation.status(status);
	}

	private static LlmFailure exhausted(LatchScope scope) {
		return LlmFailure.of(FailureKind.QUOTA_EXHAUSTED)
			.withStatus(429)
			.withCode("enforced_spend_limit_reached")
			.withLatch(scope, null);
	}

	private static Permit permit() {
		return new Permit(BlockingDriverTests.class, Priority.NORMAL, 0, false, 0);
	}

	/** At a fixed rate a rejection is a pause. */
	private static void pause(RateLimiter limiter, Duration duration) {
		Permit permit = permit();
		limiter.onSend(permit, 0);
		limiter.onRejected(permit, duration.toNanos(), List.of());
	}

}
