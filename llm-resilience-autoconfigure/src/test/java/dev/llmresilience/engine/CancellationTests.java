package dev.llmresilience.engine;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.ShutdownException;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.engine.ProviderSettings.BudgetSettings;
import dev.llmresilience.engine.Shape.Answer;
import dev.llmresilience.engine.Shape.Running;
import dev.llmresilience.engine.Shape.Script;
import dev.llmresilience.failure.DefaultFailureClassifier;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.limiter.RateLimiter;
import dev.llmresilience.policy.Jitter;
import dev.llmresilience.test.SimulatedProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static dev.llmresilience.engine.Simulation.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Callers that go away, clients that say so in their own words, and shutdown: cases C106
 * to C114. However a call is made, it stops at once, nothing is counted against the
 * provider, and nothing is kept.
 */
class CancellationTests {

	private static final Duration SOON = Duration.ofMillis(100);

	private final Simulation simulation = new Simulation();

	@BeforeEach
	void readWhatClientsThrow() {
		this.simulation.classifier = new DefaultFailureClassifier(List.of(SimulatedProvider.classifier(true)));
	}

	@AfterEach
	void end() {
		this.simulation.close();
	}

	/** One failure opens the breaker, so that none goes unnoticed. */
	private void entry(LimiterSettings limiter) {
		this.simulation.with("p", Simulation.EXACT, limiter, new BudgetSettings(10, 0, 0), Simulation.threshold(1));
	}

	private void entry() {
		entry(LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF));
	}

	/** Case C106, and C110: what a blocking caller gets is the last failure. */
	@ParameterizedTest
	@EnumSource
	void aCallerThatGoesAwayDuringTheWaitForARetryEndsTheCall(Shape shape) {
		this.simulation.with("p",
				Simulation.EXACT.withBackoff(Jitter.NONE, Duration.ofSeconds(30), Duration.ofMinutes(1)),
				LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), new BudgetSettings(10, 0, 0),
				Simulation.threshold(2));
		Throwable failure = status(503);
		Script script = Script.failing(failure);
		Running call = shape.start(this.simulation, "p", script);
		call.cancelAfter(Duration.ofSeconds(2));
		this.simulation.time.runFor(Duration.ofSeconds(1));
		assertThat(this.simulation.budget("p").tokens()).isEqualTo(9);
		this.simulation.time.runFor(Duration.ofHours(1));
		assertThat(call.ended()).isLessThan(Duration.ofSeconds(2).plus(SOON));
		assertThat(script.attempts()).isEqualTo(1);
		assertThat(this.simulation.breaker("p").snapshot().consecutiveFailures()).isEqualTo(1);
		assertThat(this.simulation.budget("p").tokens()).isEqualTo(10);
		if (shape == Shape.BLOCKING) {
			assertThat(call.thrown()).isSameAs(failure);
			assertThat(call.report().reason()).isEqualTo(GiveUpReason.CANCELLED);
		}
		else {
			assertThat(call.thrown()).isInstanceOf(CancellationException.class);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aCallerThatGoesAwayFromTheQueueFreesItsPlace(Shape shape) {
		entry(Simulation.ONE_PER_SECOND);
		shape.start(this.simulation, "p", Script.failing());
		Script never = Script.failing();
		Running call = shape.start(this.simulation, "p", never);
		Running next = shape.start(this.simulation, "p", Script.failing());
		call.cancelAfter(Duration.ofMillis(500));
		this.simulation.time.runFor(Duration.ofSeconds(3));
		assertThat(call.ended()).isEqualTo(Duration.ofMillis(500));
		assertThat(never.attempts()).isZero();
		assertThat(next.ended()).isLessThan(Duration.ofMillis(1100));
		assertThat(limiter().waiting()).isZero();
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.CLOSED);
	}

	@ParameterizedTest
	@EnumSource
	void aCallerThatGoesAwayDuringAnAttemptCountsForNothing(Shape shape) {
		entry(LimiterSettings.DEFAULTS.withMaxConcurrentCalls(1));
		Script script = new Script((attempt) -> Answer.after(Duration.ofMinutes(1)));
		Running call = shape.start(this.simulation, "p", script);
		call.cancelAfter(Duration.ofSeconds(2));
		this.simulation.time.runFor(Duration.ofMinutes(2));
		assertThat(call.ended()).isEqualTo(Duration.ofSeconds(2));
		assertThat(script.attempts()).isEqualTo(1);
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.CLOSED);
		assertThat(limiter().inFlight()).isZero();
	}

	/** A retry that was paid for and never told its outcome. */
	@ParameterizedTest
	@EnumSource
	void aCallerThatGoesAwayDuringARetryGetsItsTokenBack(Shape shape) {
		this.simulation.with("p", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF),
				new BudgetSettings(10, 0, 0), null);
		Running call = shape.start(this.simulation, "p",
				new Script((attempt) -> (attempt == 1) ? Answer.of(status(500)) : Answer.after(Duration.ofMinutes(1))));
		call.cancelAfter(Duration.ofSeconds(2));
		this.simulation.time.runFor(Duration.ofMinutes(2));
		assertThat(call.ended()).isEqualTo(Duration.ofSeconds(2));
		assertThat(this.simulation.budget("p").tokens()).isEqualTo(10);
	}

	@ParameterizedTest
	@EnumSource
	void aTrialWhoseCallerGoesAwayFreesItsPlaceForTheNext(Shape shape) {
		entry();
		this.simulation.openUntilTrial("p");
		Running trial = shape.start(this.simulation, "p", new Script((attempt) -> Answer.after(Duration.ofMinutes(1))));
		trial.cancelAfter(Duration.ofSeconds(2));
		this.simulation.time.runFor(Duration.ofSeconds(3));
		assertThat(trial.isOver()).isTrue();
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.HALF_OPEN);
		assertThat(shape.run(this.simulation, "p", Script.failing()).result()).isEqualTo("answer");
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.CLOSED);
	}

	/** Cases C107 and C114. */
	static Stream<Arguments> wordsForCancelled() {
		List<Supplier<Throwable>> words = List.of(
				() -> new IllegalStateException(new InterruptedIOException("interrupted")),
				() -> new IllegalStateException(new InterruptedException("sleep interrupted")),
				() -> new IOException("Canceled"), () -> new CancellationException("shutting down"),
				() -> new CompletionException(new CancellationException()),
				() -> new IllegalStateException(new ExecutionException(new CancellationException())),
				() -> new ClosedByInterruptException());
		return words.stream().flatMap((word) -> Stream.of(Shape.values()).map((shape) -> arguments(shape, word.get())));
	}

	@ParameterizedTest
	@MethodSource("wordsForCancelled")
	void whatAClientThrowsThatWasCancelledEndsTheCallAndCountsForNothing(Shape shape, Throwable thrown) {
		entry();
		Script script = Script.failing(thrown);
		Running call = shape.run(this.simulation, "p", script);
		assertThat(call.report().reason()).isEqualTo(GiveUpReason.CANCELLED);
		assertThat(script.attempts()).isEqualTo(1);
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.CLOSED);
		assertThat(this.simulation.budget("p").tokens()).isEqualTo(10);
	}

	/** Case C108: the other InterruptedIOExceptions. */
	static Stream<Arguments> wordsForTimedOut() {
		List<Supplier<Throwable>> words = List.of(() -> {
			Throwable timeout = new InterruptedIOException("timeout");
			timeout.initCause(new IOException("Canceled"));
			return timeout;
		}, () -> new SocketTimeoutException("Read timed out"),
				() -> new IllegalStateException(new SocketTimeoutException("timeout")));
		return words.stream().flatMap((word) -> Stream.of(Shape.values()).map((shape) -> arguments(shape, word.get())));
	}

	@ParameterizedTest
	@MethodSource("wordsForTimedOut")
	void whatAClientThrowsThatGaveUpWaitingIsATimeout(Shape shape, Throwable thrown) {
		this.simulation.with("p", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null,
				Simulation.threshold(2));
		Script script = Script.failing(thrown);
		Running call = shape.start(this.simulation, "p", script);
		this.simulation.time.runFor(Duration.ofMillis(500));
		assertThat(this.simulation.breaker("p").snapshot().lastFailure()).isNotNull()
			.satisfies((failure) -> assertThat(failure.kind()).isEqualTo(FailureKind.TIMEOUT));
		this.simulation.time.runFor(Duration.ofMinutes(1));
		assertThat(call.result()).isEqualTo("answer");
		assertThat(script.attempts()).isEqualTo(2);
	}

	/** Cases C107, C110 and C111, which only callers that block can be in. */
	@ParameterizedTest
	@ValueSource(strings = { "the cause says so", "only the flag says so" })
	void aBlockingCallerThatWasInterruptedMakesNoFurtherCallAndKeepsItsFlag(String how) {
		entry();
		int[] attempts = new int[1];
		Simulation.Caller<String> caller = this.simulation.run("p", () -> {
			attempts[0]++;
			Thread.currentThread().interrupt();
			throw how.startsWith("the cause") ? new IllegalStateException(new InterruptedIOException("interrupted"))
					: status(500);
		});
		assertThat(attempts[0]).isEqualTo(1);
		assertThat(caller.interrupted()).isTrue();
		assertThat(caller.ended()).isZero();
		assertThat(caller.report().reason()).isEqualTo(GiveUpReason.CANCELLED);
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.CLOSED);
	}

	/** The thread that begins a future is not the one that waits for it. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BLOCKING")
	void theFlagOfTheThreadThatBeginsACallSaysNothingAboutIt(Shape shape) {
		this.simulation.with("p");
		Script script = Script.failing(status(500));
		Running call;
		Thread.currentThread().interrupt();
		try {
			call = shape.start(this.simulation, "p", script);
		}
		finally {
			assertThat(Thread.interrupted()).isTrue();
		}
		this.simulation.time.runFor(Duration.ofMinutes(1));
		assertThat(call.result()).isEqualTo("answer");
		assertThat(script.attempts()).isEqualTo(2);
	}

	/** Case C113, here in simulated time. */
	@ParameterizedTest
	@EnumSource
	void aShutdownReleasesAllWhoWaitAtOnceAndLetsNoNewCallOut(Shape shape) {
		this.simulation
			.with("backoff", Simulation.EXACT.withBackoff(Jitter.NONE, Duration.ofSeconds(60), Duration.ofSeconds(60)),
					LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), new BudgetSettings(100, 0, 0),
					Simulation.threshold(100))
			.with("limited", Simulation.EXACT, LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(2.0, 1),
					null, null);
		shape.start(this.simulation, "limited", Script.failing());
		List<Script> scripts = new ArrayList<>();
		List<Running> inBackoff = new ArrayList<>();
		List<Running> inQueue = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			scripts.add(Script.failing(status(503)));
			inBackoff.add(shape.start(this.simulation, "backoff", scripts.get(i)));
			inQueue.add(shape.start(this.simulation, "limited", new Script((attempt) -> {
				throw new AssertionError("Let out");
			})));
		}
		this.simulation.time.runFor(Duration.ofSeconds(1));
		assertThat(Stream.concat(inBackoff.stream(), inQueue.stream())).noneMatch(Running::isOver);
		this.simulation.engine().close();
		this.simulation.providers().close();
		this.simulation.time.runFor(Duration.ZERO);
		assertThat(inBackoff).allSatisfy((call) -> assertThat(call.thrown()).isInstanceOf(ShutdownException.class)
			.hasCauseInstanceOf(SimulatedProvider.StatusException.class));
		assertThat(inQueue).allSatisfy((call) -> assertThat(call.thrown()).isInstanceOf(ShutdownException.class));
		assertThat(shape.run(this.simulation, "backoff", Script.failing()).thrown())
			.isInstanceOf(ShutdownException.class);
		assertThat(scripts).allSatisfy((script) -> assertThat(script.attempts()).isEqualTo(1));
		assertThat(this.simulation.budget("backoff").tokens()).isEqualTo(100);
		assertThat(this.simulation.breaker("backoff").snapshot().consecutiveFailures()).isEqualTo(10);
	}

	@ParameterizedTest
	@EnumSource
	void aShutdownLetsAnAttemptInFlightFinishButNotBeRetried(Shape shape) {
		this.simulation.with("p");
		Running answered = shape.start(this.simulation, "p", new Script((attempt) -> Answer.after(SOON)));
		Throwable failure = status(500);
		Script script = new Script((attempt) -> new Answer(SOON, failure));
		Running failed = shape.start(this.simulation, "p", script);
		this.simulation.time.runFor(Duration.ofMillis(50));
		this.simulation.engine().close();
		this.simulation.providers().close();
		this.simulation.time.runFor(Duration.ofMinutes(1));
		assertThat(answered.result()).isEqualTo("answer");
		assertThat(failed.thrown()).isInstanceOf(ShutdownException.class).hasCause(failure);
		assertThat(script.attempts()).isEqualTo(1);
	}

	/** An error that was only made by cancelling is not the last failure. */
	@Test
	void aFutureThatIsCancelledStaysCancelledWhateverItsAttemptMakesOfIt() {
		entry();
		List<CompletableFuture<String>> attempts = new ArrayList<>();
		CompletableFuture<String> call = this.simulation.future("p", () -> {
			CompletableFuture<String> attempt = new CompletableFuture<>();
			attempts.add(attempt);
			return attempt.exceptionally((ex) -> {
				throw status(500);
			});
		});
		call.cancel(true);
		this.simulation.time.runFor(Duration.ofMinutes(1));
		assertThat(call).isCancelled();
		assertThat(attempts).hasSize(1);
		assertThat(this.simulation.breaker("p").state()).isEqualTo(BreakerState.CLOSED);
	}

	private RateLimiter limiter() {
		return this.simulation.providers().get("p").limiter();
	}

}
