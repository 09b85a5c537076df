package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import dev.llmresilience.AttemptTimeoutException;
import dev.llmresilience.CircuitOpenException;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.ShutdownException;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static dev.llmresilience.engine.Simulation.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Calls whose attempts return futures. What is decided is the matter of other tests: here
 * it is that no thread waits, that each call ends once, and that nothing is kept.
 */
class FutureDriverTests {

	private final Simulation simulation = new Simulation();

	@AfterEach
	void end() {
		this.simulation.close();
	}

	/** Attempts that the test ends itself. */
	private final List<CompletableFuture<String>> attempts = new ArrayList<>();

	private CompletionStage<String> attempt() {
		CompletableFuture<String> attempt = new CompletableFuture<>();
		this.attempts.add(attempt);
		return attempt;
	}

	private CompletableFuture<String> last() {
		return this.attempts.get(this.attempts.size() - 1);
	}

	/** Begins a call whose end does not matter. */
	private void begin() {
		CompletableFuture<String> unused = this.simulation.future("p", this::attempt);
	}

	@Test
	void theAnswerOfTheFirstAttemptIsTheAnswer() {
		CompletableFuture<String> call = this.simulation.with("p").future("p", this::attempt);
		assertThat(call).isNotDone();
		last().complete("answer");
		assertThat(call).isCompletedWithValue("answer");
	}

	@Test
	void aFailureThatCanPassIsRetriedAfterItsWait() {
		CompletableFuture<String> call = this.simulation.with("p").future("p", this::attempt);
		last().completeExceptionally(status(500));
		this.simulation.time.runFor(Duration.ofMillis(999));
		assertThat(this.attempts).hasSize(1);
		this.simulation.time.runFor(Duration.ofMillis(1));
		assertThat(this.attempts).hasSize(2);
		last().complete("answer");
		assertThat(call).isCompletedWithValue("answer");
	}

	@Test
	void theLastFailureReachesTheCallerAsTheSameObjectWithItsReport() {
		Throwable failure = status(400);
		CompletableFuture<String> call = this.simulation.with("p").future("p", this::attempt);
		last().completeExceptionally(new CompletionException(failure));
		assertThat(thrown(call)).isSameAs(failure);
		assertThat(report(call).reason()).isEqualTo(GiveUpReason.NOT_RETRYABLE);
	}

	@Test
	void aMethodThatThrowsInsteadOfReturningAFutureFailsTheAttempt() {
		CompletableFuture<String> call = this.simulation.with("p").future("p", () -> {
			if (this.attempts.isEmpty()) {
				attempt();
				throw status(503);
			}
			return CompletableFuture.completedFuture("answer");
		});
		this.simulation.time.runFor(Duration.ofSeconds(5));
		assertThat(call).isCompletedWithValue("answer");
	}

	@Test
	void aMethodThatReturnsNoFutureIsABugOfTheCallers() {
		CompletableFuture<String> call = this.simulation.with("p").future("p", () -> null);
		assertThat(thrown(call)).isInstanceOf(IllegalStateException.class).hasMessageContaining("null");
	}

	@Test
	void anAttemptThatTakesTooLongIsCancelledAndRetried() {
		this.simulation.with("p", Simulation.EXACT.withTimeouts(Duration.ofMinutes(1), Duration.ofSeconds(2)),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
		CompletableFuture<String> call = this.simulation.future("p", this::attempt);
		this.simulation.time.runFor(Duration.ofSeconds(2));
		assertThat(this.attempts.get(0)).isCancelled();
		this.simulation.time.runFor(Duration.ofSeconds(1));
		assertThat(this.attempts).hasSize(2);
		last().complete("answer");
		assertThat(call).isCompletedWithValue("answer");
	}

	@Test
	void aCallWithoutTimeLeftFailsWithTheTimeout() {
		this.simulation.with("p", Simulation.EXACT.withTimeouts(Duration.ofSeconds(2), Duration.ofSeconds(2)),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
		CompletableFuture<String> call = this.simulation.future("p", this::attempt);
		this.simulation.time.runFor(Duration.ofSeconds(2));
		assertThat(thrown(call)).isInstanceOf(AttemptTimeoutException.class).hasMessageContaining("2000 ms");
		assertThat(report(call).reason()).isEqualTo(GiveUpReason.DEADLINE);
	}

	@Test
	void whatComesAfterTheTimeoutChangesNothing() {
		this.simulation.with("p", Simulation.EXACT.withTimeouts(Duration.ofMinutes(1), Duration.ofSeconds(2)),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
		List<CompletableFuture<String>> deaf = new ArrayList<>();
		CompletableFuture<String> call = this.simulation.future("p", () -> {
			CompletableFuture<String> attempt = new CompletableFuture<>();
			deaf.add(attempt);
			return attempt.minimalCompletionStage();
		});
		this.simulation.time.runFor(Duration.ofSeconds(3));
		deaf.get(0).complete("late");
		assertThat(call).isNotDone();
		deaf.get(1).complete("answer");
		assertThat(call).isCompletedWithValue("answer");
	}

	@Test
	void aCancelReachesTheAttemptInFlight() {
		CompletableFuture<String> call = this.simulation.with("p").future("p", this::attempt);
		call.cancel(true);
		assertThat(last()).isCancelled();
		assertThat(this.simulation.breaker("p").snapshot().consecutiveFailures()).isZero();
	}

	@Test
	void aCancelEndsTheWaitBeforeARetryAndGivesTheTokenBack() {
		CompletableFuture<String> call = this.simulation.with("p").future("p", this::attempt);
		last().completeExceptionally(status(500));
		assertThat(this.simulation.budget("p").tokens()).isEqualTo(49);
		call.cancel(true);
		assertThat(this.simulation.budget("p").tokens()).isEqualTo(50);
		this.simulation.time.runFor(Duration.ofMinutes(1));
		assertThat(this.attempts).hasSize(1);
	}

	@Test
	void aCancelLeavesTheQueueOfTheLimiter() {
		this.simulation.with("p", Simulation.EXACT, Simulation.ONE_PER_SECOND, null, null);
		begin();
		CompletableFuture<String> second = this.simulation.future("p", this::attempt);
		CompletableFuture<String> third = this.simulation.future("p", this::attempt);
		second.cancel(true);
		this.simulation.time.runFor(Duration.ofMillis(1100));
		assertThat(this.attempts).hasSize(2);
		last().complete("answer");
		assertThat(third).isCompletedWithValue("answer");
	}

	@Test
	void aTimeoutThatTheCallerPutsOnTheFutureCancelsTheCallToo() {
		CompletableFuture<String> call = this.simulation.with("p").future("p", this::attempt);
		call.completeExceptionally(new IllegalStateException("the caller's own"));
		assertThat(last()).isCancelled();
	}

	@Test
	void callsWaitForTheirTurnWithoutAThread() {
		this.simulation.with("p", Simulation.EXACT, Simulation.ONE_PER_SECOND, null, null);
		List<CompletableFuture<String>> calls = new ArrayList<>();
		for (int i = 0; i < 500; i++) {
			calls.add(this.simulation.future("p", () -> CompletableFuture.completedFuture("answer")));
		}
		this.simulation.time.runFor(Duration.ofMinutes(20));
		assertThat(calls).allSatisfy((call) -> assertThat(call).isCompletedWithValue("answer"));
		assertThat(this.simulation.time.active()).isZero();
	}

	@Test
	void anOpenBreakerRefusesAtOnce() {
		this.simulation.with("p", Simulation.EXACT, LimiterSettings.DEFAULTS, null, Simulation.threshold(1));
		this.simulation.open("p");
		assertThat(thrown(this.simulation.future("p", this::attempt))).isInstanceOf(CircuitOpenException.class);
		assertThat(this.attempts).isEmpty();
	}

	@Test
	void aTrialThatIsCancelledFreesItsPlace() {
		this.simulation.with("p", Simulation.EXACT, LimiterSettings.DEFAULTS, null, Simulation.threshold(1));
		this.simulation.openUntilTrial("p");
		this.simulation.future("p", this::attempt).cancel(true);
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.HALF_OPEN);
		CompletableFuture<String> next = this.simulation.future("p", this::attempt);
		last().complete("answer");
		assertThat(next).isCompletedWithValue("answer");
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.CLOSED);
	}

	@Test
	void aShutdownEndsTheWaits() {
		CompletableFuture<String> call = this.simulation.with("p").future("p", this::attempt);
		last().completeExceptionally(status(500));
		this.simulation.engine().close();
		this.simulation.time.runFor(Duration.ZERO);
		assertThat(thrown(call)).isInstanceOf(ShutdownException.class).hasCauseInstanceOf(Throwable.class);
	}

	@Test
	void aShutdownEndsTheQueueOfTheLimiter() {
		this.simulation.with("p", Simulation.EXACT, Simulation.ONE_PER_SECOND, null, null);
		begin();
		CompletableFuture<String> call = this.simulation.future("p", this::attempt);
		this.simulation.engine().close();
		this.simulation.providers().close();
		this.simulation.time.runFor(Duration.ZERO);
		assertThat(thrown(call)).isInstanceOf(ShutdownException.class);
	}

	@Test
	void theMethodFindsItsCallAndNobodyElseDoes() {
		List<@Nullable Integer> seen = new ArrayList<>();
		this.simulation.with("p").future("p", () -> {
			LlmCall call = Objects.requireNonNull(LlmCall.current());
			seen.add(call.attempt());
			return CompletableFuture.failedFuture(status(500));
		}).isDone();
		assertThat(LlmCall.current()).isNull();
		this.simulation.time.runFor(Duration.ofSeconds(1));
		assertThat(LlmCall.current()).isNull();
		assertThat(seen).startsWith(1, 2);
	}

	@Test
	void aRetryRunsInTheContextOfTheCaller() {
		ThreadLocal<String> context = new ThreadLocal<>();
		List<@Nullable String> seen = new ArrayList<>();
		CallEngine engine = this.simulation.engineThatCarries(context);
		this.simulation.with("p");
		context.set("caller");
		new FutureDriver(engine).call(this.simulation.plan("p"), null, 0, () -> {
			seen.add(context.get());
			return CompletableFuture.<String>failedFuture(status(500));
		}, null).isDone();
		context.remove();
		this.simulation.time.runFor(Duration.ofSeconds(1));
		assertThat(seen).containsExactly("caller", "caller");
	}

	@Test
	void aFallbackAnswersWithAFutureOfItsOwn() {
		CompletableFuture<String> call = new FutureDriver(this.simulation.with("p").engine())
			.call(this.simulation.plan("p"), null, 0, this::attempt, (failure) -> attempt());
		last().completeExceptionally(status(401));
		this.simulation.time.runFor(Duration.ZERO);
		assertThat(this.attempts).hasSize(2);
		last().complete("fallback");
		assertThat(call).isCompletedWithValue("fallback");
	}

	@Test
	void aFailingFallbackFailsTheCall() {
		CompletableFuture<String> call = new FutureDriver(this.simulation.with("p").engine())
			.call(this.simulation.plan("p"), null, 0, this::attempt, (failure) -> {
				throw new IllegalStateException("fallback");
			});
		last().completeExceptionally(status(401));
		this.simulation.time.runFor(Duration.ZERO);
		assertThat(thrown(call)).hasMessage("fallback");
	}

	@Test
	void aBugOfTheCallersNeverReachesTheFallback() {
		CompletableFuture<String> call = new FutureDriver(this.simulation.with("p").engine())
			.call(this.simulation.plan("p"), null, 0, this::attempt, (failure) -> attempt());
		last().completeExceptionally(new IllegalArgumentException("bug"));
		this.simulation.time.runFor(Duration.ZERO);
		assertThat(thrown(call)).hasMessage("bug");
		assertThat(this.attempts).hasSize(1);
	}

	@Test
	void anInnerFutureThatSomebodyElseCancelsIsNotRetried() {
		CompletableFuture<String> call = this.simulation.with("p").future("p", this::attempt);
		last().cancel(true);
		this.simulation.time.runFor(Duration.ofMinutes(1));
		assertThat(thrown(call)).isInstanceOf(CancellationException.class);
		assertThat(this.attempts).hasSize(1);
	}

	private static Throwable thrown(CompletableFuture<?> call) {
		assertThat(call).isDone();
		List<Throwable> thrown = new ArrayList<>();
		call.whenComplete((value, ex) -> thrown.add(ex)).isDone();
		assertThat(thrown).doesNotContainNull();
		assertThatThrownBy(call::join).isNotNull();
		return thrown.get(0);
	}

	private static LlmCallReport report(CompletableFuture<?> call) {
		return Objects.requireNonNull(LlmCallReport.find(thrown(call)));
	}

}
