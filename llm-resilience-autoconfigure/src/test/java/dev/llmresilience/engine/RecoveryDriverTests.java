package dev.llmresilience.engine;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.Priority;
import dev.llmresilience.Recovery;
import dev.llmresilience.RecoveryStrategy;
import dev.llmresilience.RecoveryStrategy.FailedRun;
import dev.llmresilience.ShutdownException;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.engine.BlockingDriver.Body;
import dev.llmresilience.engine.ProviderSettings.BudgetSettings;
import dev.llmresilience.engine.Simulation.Caller;
import dev.llmresilience.engine.Simulation.Failing;
import dev.llmresilience.engine.Simulation.Script;
import dev.llmresilience.test.SimulatedProvider.StatusException;
import dev.llmresilience.time.ForwardingTime;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a strategy may do, and what it may not.
 */
class RecoveryDriverTests {

	private final Simulation simulation = new Simulation().with("p");

	@AfterEach
	void closeSimulation() {
		this.simulation.close();
	}

	/* What the strategy says. */

	@Test
	void aStrategyThatRetriesForEverGetsSixRuns() {
		Failing tool = new Failing(400);
		Caller<Object> caller = run(driver((run) -> Recovery.retry()), tool);
		assertThat(tool.attempts()).isEqualTo(6);
		assertThat(caller.thrown()).isInstanceOf(StatusException.class).hasNoSuppressedExceptions();
	}

	@ParameterizedTest
	@CsvSource({ "1, 1", "2, 2", "6, 6", "100, 6" })
	void itGetsNoMoreRunsThanTheMethodAllows(int maxAttempts, int runs) {
		Failing tool = new Failing(500);
		RecoveryDriver driver = driver("text", options(maxAttempts), (run) -> Recovery.retry());
		run(driver, tool).thrown();
		assertThat(tool.attempts()).isEqualTo(runs);
	}

	@Test
	void whileRetriesAreOffItGetsOneRun() {
		Failing tool = new Failing(500);
		RecoveryDriver driver = driver((run) -> Recovery.retry());
		this.simulation.providers().setRetries("p", false);
		run(driver, tool).thrown();
		assertThat(tool.attempts()).isEqualTo(1);
	}

	@Test
	void aRetryMaySucceed() {
		Script tool = new Script(Simulation.status(500), Simulation.status(400));
		assertThat(run(driver((run) -> Recovery.retry()), tool).result()).isEqualTo("answer");
		assertThat(tool.attempts()).isEqualTo(3);
	}

	@Test
	void whatIsSkippedHasTheValueOfTheStrategy() {
		Failing tool = new Failing(500);
		assertThat(run(driver((run) -> Recovery.skip("instead")), tool).result()).isEqualTo("instead");
		assertThat(tool.attempts()).isEqualTo(1);
	}

	@Test
	void aFailureThatIsNotRecoveredFromReachesTheCallerAsItIs() {
		StatusException failure = Simulation.status(503);
		Script tool = new Script(failure);
		Caller<Object> caller = run(driver((run) -> Recovery.fail()), tool);
		assertThat(caller.thrown()).isSameAs(failure).hasNoSuppressedExceptions();
		assertThat(tool.attempts()).isEqualTo(1);
	}

	@Test
	void theStrategyIsAskedOnceMoreAfterTheLastRun() {
		Failing tool = new Failing(500);
		RecoveryDriver driver = driver((run) -> (run.runs() < 6) ? Recovery.retry() : Recovery.skip("at last"));
		assertThat(run(driver, tool).result()).isEqualTo("at last");
		assertThat(tool.attempts()).isEqualTo(6);
	}

	@Test
	void whatSucceedsNeedsNoStrategy() {
		RecoveryDriver driver = driver((run) -> {
			throw new AssertionError("asked");
		});
		assertThat(run(driver, new Script()).result()).isEqualTo("answer");
	}

	/* What it sees. */

	@Test
	void itSeesTheFailureTheMethodItsArgumentsAndTheNumberOfRuns() {
		List<FailedRun> seen = new ArrayList<>();
		StatusException first = Simulation.status(429);
		StatusException second = Simulation.status(500);
		RecoveryDriver driver = driver((run) -> {
			seen.add(run);
			return Recovery.retry();
		});
		Object[] arguments = { "a", 1 };
		Script tool = new Script(first, second);
		run(driver, arguments, tool).result();
		assertThat(seen).extracting(FailedRun::thrown).containsExactly(first, second);
		assertThat(seen).extracting((run) -> run.failure().kind())
			.containsExactly(FailureKind.RATE_LIMITED, FailureKind.SERVER_ERROR);
		assertThat(seen).extracting(FailedRun::runs).containsExactly(1, 2);
		assertThat(seen).extracting(FailedRun::method).containsOnly(method("text"));
		assertThat(seen).extracting(FailedRun::arguments).allSatisfy((all) -> assertThat(all).containsExactly("a", 1));
	}

	@Test
	void anArgumentMayBeNull() throws Throwable {
		RecoveryDriver driver = driver((run) -> Recovery.skip("argument: " + run.arguments().get(0)));
		assertThat(driver.call(new Object[1], new Failing(500)::run)).isEqualTo("argument: null");
	}

	@Test
	void neitherArgumentsNorValuesAreThereInText() {
		FailedRun[] seen = new FailedRun[1];
		RecoveryDriver driver = driver((run) -> {
			seen[0] = run;
			return Recovery.fail();
		});
		run(driver, new Object[] { "secret" }, new Failing(500)).thrown();
		assertThat(seen[0]).asString().contains("SERVER_ERROR", "text", "1").doesNotContain("secret");
		assertThat(Recovery.skip("secret")).asString().doesNotContain("secret");
	}

	/* Waits. */

	@ParameterizedTest
	@CsvSource({ "0, 0", "0.5, 1550", "0.9999, 3099" })
	void itsLadderDoublesFrom100MillisecondsWithFullJitter(double chance, long total) {
		CallEngine engine = new CallEngine(new Chance(this.simulation.time, chance), this.simulation.classifier);
		RecoveryDriver driver = driver("text", options(100), (run) -> Recovery.retry(), engine);
		assertThat(run(driver, new Failing(500)).ended().toMillis()).isEqualTo(total);
	}

	@ParameterizedTest
	@CsvSource({ "2, 2, 2000", "30, 2, 30000", "31, 1, 0" })
	void aHintIsWaitedForUnlessItIsTooLong(int seconds, int runs, long waited) {
		Script tool = new Script(new StatusException(429, Duration.ofSeconds(seconds)));
		Caller<Object> caller = run(driver((run) -> Recovery.retry()), tool);
		assertThat(tool.attempts()).isEqualTo(runs);
		assertThat(caller.ended()).isEqualTo(Duration.ofMillis(waited));
	}

	@Test
	void anInterruptEndsTheWaitAndTheFailureReachesTheCaller() {
		StatusException failure = new StatusException(429, Duration.ofSeconds(10));
		Script tool = new Script(failure);
		Caller<Object> caller = start(driver((run) -> Recovery.retry()), new Object[0], tool);
		this.simulation.interruptAfter(Duration.ofSeconds(1), caller);
		this.simulation.time.run();
		assertThat(caller.thrown()).isSameAs(failure);
		assertThat(caller.interrupted()).isTrue();
		assertThat(caller.ended()).isEqualTo(Duration.ofSeconds(1));
		assertThat(tool.attempts()).isEqualTo(1);
	}

	@Test
	void aShutdownEndsTheWaitAndTheFailureIsTheCause() {
		StatusException failure = new StatusException(429, Duration.ofSeconds(10));
		Script tool = new Script(failure);
		Caller<Object> caller = start(driver((run) -> Recovery.retry()), new Object[0], tool);
		this.simulation.time.schedule(Duration.ofSeconds(1).toNanos(), this.simulation.engine()::close);
		this.simulation.time.run();
		assertThat(caller.thrown()).isInstanceOf(ShutdownException.class).hasCause(failure);
		assertThat(caller.ended()).isEqualTo(Duration.ofSeconds(1));
		assertThat(tool.attempts()).isEqualTo(1);
	}

	/* Where nobody is asked. */

	static Stream<Throwable> unasked() {
		return Stream.of(new OutOfMemoryError("heap"), new InterruptedException(),
				new IllegalStateException(new InterruptedException("in a sleep")),
				new ExecutionException(new InterruptedException()));
	}

	@ParameterizedTest
	@MethodSource("unasked")
	void nobodyIsAskedAboutAnErrorOrACallerThatWentAway(Throwable thrown) {
		Script tool = new Script(thrown);
		RecoveryDriver driver = driver((run) -> Recovery.skip("asked"));
		assertThat(run(driver, tool).thrown()).isSameAs(thrown);
	}

	@Test
	void theInterruptFlagThatAWrapperLostIsRestored() {
		Script tool = new Script(new IllegalStateException(new InterruptedException("in a sleep")));
		assertThat(run(driver((run) -> Recovery.retry()), tool).interrupted()).isTrue();
	}

	@Test
	void aJudgeThatBreaksCostsTheCallerNoFailure() {
		StatusException failure = Simulation.status(500);
		this.simulation.classifier = (thrown, context) -> {
			throw new StackOverflowError("judge");
		};
		Caller<Object> caller = run(driver((run) -> Recovery.skip("asked")), new Script(failure));
		assertThat(caller.thrown()).isSameAs(failure);
		assertThat(failure.getSuppressed()).singleElement().isInstanceOf(StackOverflowError.class);
	}

	/* What goes wrong in a strategy. */

	@Test
	void whatAStrategyThrowsIsSuppressedByTheFailure() {
		StatusException failure = Simulation.status(500);
		IllegalArgumentException mistake = new IllegalArgumentException("strategy");
		Caller<Object> caller = run(driver((run) -> {
			throw mistake;
		}), new Script(failure));
		assertThat(caller.thrown()).isSameAs(failure).hasSuppressedException(mistake);
	}

	@Test
	void aStrategyMayThrowTheFailureItself() {
		IllegalArgumentException failure = new IllegalArgumentException("tool");
		Caller<Object> caller = run(driver((run) -> {
			throw failure;
		}), new Script(failure));
		assertThat(caller.thrown()).isSameAs(failure).hasNoSuppressedExceptions();
	}

	@Test
	void aStrategyWithoutAnAnswerFails() {
		StatusException failure = Simulation.status(500);
		Recovery[] none = new Recovery[1];
		Caller<Object> caller = run(driver((run) -> none[0]), new Script(failure));
		assertThat(caller.thrown()).isSameAs(failure);
		assertThat(failure.getSuppressed()).singleElement()
			.hasToString("java.lang.NullPointerException: s gave no answer");
	}

	static Stream<Arguments> valuesThatFit() {
		return Stream.of(Arguments.of("text", "x"), Arguments.of("text", null), Arguments.of("number", 1),
				Arguments.of("any", 1), Arguments.of("nothing", null));
	}

	@ParameterizedTest
	@MethodSource("valuesThatFit")
	void aValueThatTheMethodCanReturnIsReturned(String method, @Nullable Object value) throws Throwable {
		RecoveryDriver driver = driver(method, options(100), (run) -> Recovery.skip(value));
		assertThat(driver.call(new Object[0], new Failing(500)::run)).isEqualTo(value);
	}

	static Stream<Arguments> valuesThatDoNot() {
		return Stream.of(Arguments.of("text", 1, "a java.lang.Integer", "java.lang.String"),
				Arguments.of("number", null, "null", "int"), Arguments.of("number", 1L, "a java.lang.Long", "int"),
				Arguments.of("nothing", "secret", "a java.lang.String", "void"));
	}

	@ParameterizedTest
	@MethodSource("valuesThatDoNot")
	void aValueThatTheMethodCannotReturnIsAnExceptionThatSaysSo(String method, @Nullable Object value, String given,
			String returned) {
		StatusException failure = Simulation.status(500);
		RecoveryDriver driver = driver(method, options(100), (run) -> Recovery.skip(value));
		assertThat(run(driver, new Script(failure)).thrown()).isInstanceOf(IllegalStateException.class)
			.hasCause(failure)
			.hasMessage("The RecoveryStrategy 's' skips " + Tool.class.getName() + "." + method + " with " + given
					+ ", but the method returns " + returned);
	}

	/* What is around it and within it. */

	@Test
	void noGuardHasToDoWithIt() {
		this.simulation.with("limited", Simulation.EXACT, Simulation.ONE_PER_SECOND, BudgetSettings.DEFAULTS,
				Simulation.threshold(1));
		this.simulation.open("limited");
		RecoveryDriver driver = new RecoveryDriver(this.simulation.engine(), this.simulation.providers().get("limited"),
				this.simulation.options("limited"), method("text"), "s", (run) -> Recovery.retry());
		Failing tool = new Failing(500);
		assertThat(run(driver, tool).ended()).isLessThan(Duration.ofSeconds(4));
		assertThat(tool.attempts()).isEqualTo(6);
		assertThat(this.simulation.budget("limited").tokens()).isEqualTo(50);
		assertThat(this.simulation.breaker("limited").state()).isEqualTo(BreakerState.OPEN);
		assertThat(this.simulation.breaker("limited").snapshot().rejectedCalls()).isZero();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whatItDoesChangesNothingAboutASideEffectOfTheCallAroundIt(boolean sideEffect) {
		RecoveryDriver driver = driver((run) -> Recovery.skip("instead"));
		int[] attempts = new int[1];
		Caller<Object> caller = this.simulation.run("p", () -> {
			attempts[0]++;
			if (sideEffect) {
				current().sideEffect();
			}
			driver.call(new Object[0], () -> {
				assertThat(current().attempt()).isEqualTo(attempts[0]);
				throw Simulation.status(500);
			});
			throw Simulation.status(500);
		});
		assertThat(caller.report().reason()).isEqualTo(sideEffect ? GiveUpReason.SIDE_EFFECT : GiveUpReason.ATTEMPTS);
		assertThat(attempts[0]).isEqualTo(sideEffect ? 1 : 4);
	}

	@Test
	void whatAProtectedCallWithinHasGivenUpOnIsNotRunAgain() {
		Failing model = new Failing(500);
		List<FailedRun> asked = new ArrayList<>();
		RecoveryDriver driver = driver((run) -> {
			asked.add(run);
			return Recovery.retry();
		});
		Caller<Object> caller = run(driver, () -> this.simulation.call("p", model));
		assertThat(model.attempts()).isEqualTo(4);
		assertThat(asked).hasSize(1);
		assertThat(LlmCallReport.find(asked.get(0).thrown())).isSameAs(caller.report());
	}

	@Test
	void butItMayBeSkipped() {
		RecoveryDriver driver = driver((run) -> Recovery.skip("instead"));
		assertThat(run(driver, () -> this.simulation.call("p", new Failing(503))).result()).isEqualTo("instead");
	}

	private RecoveryDriver driver(RecoveryStrategy strategy) {
		return driver("text", options(Integer.MAX_VALUE), strategy);
	}

	private RecoveryDriver driver(String method, CallOptions options, RecoveryStrategy strategy) {
		return driver(method, options, strategy, this.simulation.engine());
	}

	private RecoveryDriver driver(String method, CallOptions options, RecoveryStrategy strategy, CallEngine engine) {
		return new RecoveryDriver(engine, this.simulation.providers().get("p"), options, method(method), "s", strategy);
	}

	private static CallOptions options(int maxAttempts) {
		return new CallOptions(Simulation.EXACT, maxAttempts, true, Priority.NORMAL, List.of(), List.of());
	}

	private Caller<Object> run(RecoveryDriver driver, Body<?> tool) {
		return run(driver, new Object[0], tool);
	}

	private Caller<Object> run(RecoveryDriver driver, Object[] arguments, Body<?> tool) {
		Caller<Object> caller = start(driver, arguments, tool);
		this.simulation.time.run();
		return caller;
	}

	private Caller<Object> start(RecoveryDriver driver, Object[] arguments, Body<?> tool) {
		return this.simulation.start(() -> Objects.requireNonNull(driver.call(arguments, tool::run)));
	}

	private static LlmCall current() {
		return Objects.requireNonNull(LlmCall.current());
	}

	private static Method method(String name) {
		return Stream.of(Tool.class.getDeclaredMethods())
			.filter((method) -> method.getName().equals(name))
			.findFirst()
			.orElseThrow();
	}

	/** A time in which chance is known. */
	private static final class Chance extends ForwardingTime {

		private final double random;

		Chance(TimeSource time, double random) {
			super(time);
			this.random = random;
		}

		@Override
		public double random() {
			return this.random;
		}

		@Override
		public void execute(Runnable task) {
			task.run();
		}

	}

	interface Tool {

		String text();

		int number();

		Object any();

		void nothing();

	}

}
