package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmCallReport.Attempt;
import dev.llmresilience.LlmCallReport.WaitCause;
import dev.llmresilience.engine.CallSettings.OnOpen;
import dev.llmresilience.engine.ProviderSettings.BudgetSettings;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.test.SimulatedProvider.StatusException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import static dev.llmresilience.engine.Simulation.EXACT;
import static dev.llmresilience.engine.Simulation.ONE_PER_SECOND;
import static dev.llmresilience.engine.Simulation.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * What a call tells of itself once it is over: nothing if its first attempt succeeded,
 * and else one report, whatever drives it.
 */
class CallReportTests {

	private static final LimiterSettings NO_LIMIT = LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF);

	private final Simulation simulation = new Simulation();

	@AfterEach
	void end() {
		this.simulation.close();
	}

	@ParameterizedTest
	@EnumSource(Driver.class)
	void aCallWhoseFirstAttemptSucceedsReportsNothing(Driver driver) {
		this.simulation.with("p");
		driver.call(this.simulation, outcomes());
		assertThat(this.simulation.reports).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(Driver.class)
	void aCallThatNeededRetriesReportsEachAttemptAndWhatItWaitedFor(Driver driver) {
		this.simulation.with("p");
		driver.call(this.simulation, outcomes(status(500), new StatusException(429, Duration.ofSeconds(7))));
		LlmCallReport report = onlyReport();
		assertThat(report.provider()).isEqualTo("p");
		assertThat(report.reason()).isNull();
		assertThat(report.lastKind()).isNull();
		assertThat(report.attempts()).containsExactly(
				new Attempt(FailureKind.SERVER_ERROR, 500, null, Duration.ZERO, WaitCause.NONE, Duration.ZERO),
				new Attempt(FailureKind.RATE_LIMITED, 429, null, Duration.ofSeconds(1), WaitCause.BACKOFF,
						Duration.ZERO),
				new Attempt(null, 0, null, Duration.ofSeconds(7), WaitCause.HINT, Duration.ZERO));
		assertThat(report.elapsed()).isEqualTo(Duration.ofSeconds(8));
		assertThat(report).hasMessage("Call to 'p' succeeded, attempts: 3 [SERVER_ERROR 500, RATE_LIMITED 429 after "
				+ "1000 ms (BACKOFF), OK after 7000 ms (HINT)], in 8000 ms");
	}

	@ParameterizedTest
	@EnumSource(Driver.class)
	void aCallThatFailsReportsTheReasonAndTheSameIsAttachedToWhatTheCallerGets(Driver driver) {
		this.simulation.with("p");
		StatusException thrown = status(400);
		driver.call(this.simulation, outcomes(thrown));
		LlmCallReport report = onlyReport();
		assertThat(report.reason()).isEqualTo(GiveUpReason.NOT_RETRYABLE);
		assertThat(report.lastKind()).isEqualTo(FailureKind.INVALID_REQUEST);
		assertThat(LlmCallReport.find(thrown)).isSameAs(report);
	}

	@ParameterizedTest
	@EnumSource(Driver.class)
	void aCallThatIsRefusedReportsThatItMadeNoAttempt(Driver driver) {
		this.simulation.with("p", EXACT, NO_LIMIT, null, Simulation.threshold(1));
		this.simulation.open("p");
		driver.call(this.simulation, outcomes());
		LlmCallReport report = onlyReport();
		assertThat(report.attempts()).isEmpty();
		assertThat(report.reason()).isEqualTo(GiveUpReason.BREAKER);
		assertThat(report.retryAt()).isEqualTo(this.simulation.breaker("p").snapshot().nextTrialAt());
	}

	@ParameterizedTest
	@EnumSource(value = Driver.class, mode = EnumSource.Mode.EXCLUDE, names = "BLOCKING")
	void aCallThatIsCancelledReportsThat(Driver driver) {
		this.simulation.with("p");
		driver.begin(this.simulation, outcomes(status(500))).run();
		LlmCallReport report = onlyReport();
		assertThat(report.reason()).isEqualTo(GiveUpReason.CANCELLED);
		assertThat(report.attempts()).extracting(Attempt::kind).containsExactly(FailureKind.SERVER_ERROR);
	}

	@Test
	void aCallThatIsCancelledInAnAttemptReportsThat() {
		this.simulation.with("p");
		CompletableFuture<String> call = this.simulation.future("p", CompletableFuture<String>::new);
		call.cancel(true);
		assertThat(onlyReport().reason()).isEqualTo(GiveUpReason.CANCELLED);
	}

	@Test
	void theWaitAtTheLimiterIsToldApart() {
		this.simulation.with("p", EXACT, ONE_PER_SECOND, null, null);
		Queue<Throwable> outcomes = outcomes(status(500));
		CompletableFuture<String> first = this.simulation.future("p", () -> attempt(outcomes()));
		CompletableFuture<String> second = this.simulation.future("p", () -> attempt(outcomes));
		this.simulation.time.runFor(Duration.ofSeconds(5));
		assertThat(first).isCompletedWithValue("answer");
		assertThat(second).isCompletedWithValue("answer");
		Attempt failed = onlyReport().attempts().get(0);
		assertThat(failed.waitBefore()).isZero();
		assertThat(failed.limiterWait()).isBetween(Duration.ofMillis(950), Duration.ofMillis(1100));
	}

	@Test
	void theWaitForTheBreakerIsToldApart() {
		this.simulation.calls = CallSettings.DEFAULTS.withOnOpen(OnOpen.WAIT);
		this.simulation.with("p", EXACT, NO_LIMIT, null, Simulation.threshold(1));
		this.simulation.open("p");
		CompletableFuture<String> call = this.simulation.future("p", () -> attempt(outcomes()));
		this.simulation.time.runFor(Duration.ofSeconds(40));
		assertThat(call).isCompletedWithValue("answer");
		assertThat(this.simulation.reports).as("its first attempt succeeded").isEmpty();
	}

	@Test
	void aCallThatFailsOverReportsUnderEachProvider() {
		this.simulation.with("p").with("q");
		Queue<Throwable> outcomes = outcomes(status(500), status(500), status(500), status(500), status(500));
		CompletableFuture<String> call = new FutureDriver(this.simulation.engine()).call(this.simulation.plan("p", "q"),
				null, 0, () -> attempt(outcomes), null);
		this.simulation.time.runFor(Duration.ofMinutes(1));
		assertThat(call).isCompletedWithValue("answer");
		assertThat(this.simulation.reports).extracting(LlmCallReport::provider).containsExactly("p", "q");
		assertThat(this.simulation.reports).extracting(LlmCallReport::reason)
			.containsExactly(GiveUpReason.ATTEMPTS, null);
	}

	@Test
	void aRetryThatTheLimiterPacesSaysSo() {
		LimiterSettings limiter = ONE_PER_SECOND.withMode(LimiterMode.ADAPTIVE);
		this.simulation.with("p", EXACT, limiter, BudgetSettings.DEFAULTS, null);
		Driver.FUTURE.call(this.simulation, outcomes(new StatusException(429, Duration.ofSeconds(3))));
		assertThat(onlyReport().attempts().get(1).waitCause()).isEqualTo(WaitCause.LIMITER);
	}

	@Test
	void whatAnInnerCallHasReportedTheOuterOneReportsAsNested() {
		this.simulation.with("outer").with("inner");
		assertThatException().isThrownBy(() -> this.simulation.call("outer", () -> this.simulation.call("inner", () -> {
			throw status(400);
		})));
		assertThat(this.simulation.reports).extracting(LlmCallReport::provider).containsExactly("inner", "outer");
		assertThat(this.simulation.reports).extracting(LlmCallReport::reason)
			.containsExactly(GiveUpReason.NOT_RETRYABLE, GiveUpReason.NESTED);
	}

	/**
	 * On whatever thread its signals come, its Reactor context tells where it belongs.
	 */
	@Test
	void aReactiveCallIsNestedInTheOneThatItIsSubscribedWithin() {
		this.simulation.with("outer").with("inner");
		ReactiveDriver driver = new ReactiveDriver(this.simulation.engine());
		int[] attempts = new int[1];
		Mono<String> inner = driver.mono(this.simulation.plan("inner"), null, 0, () -> {
			attempts[0]++;
			return Mono.error(status(500));
		}, null);
		Mono<String> outer = driver.mono(this.simulation.plan("outer"), null, 0,
				() -> Mono.<String>create((sink) -> this.simulation.time.schedule(1, sink::success))
					.then(Mono.defer(() -> inner)),
				null);
		Disposable unused = outer.subscribe((value) -> {
		}, (thrown) -> {
		});
		this.simulation.time.runFor(Duration.ofMinutes(1));
		assertThat(attempts[0]).isEqualTo(4);
		assertThat(this.simulation.reports).extracting(LlmCallReport::reason)
			.containsExactly(GiveUpReason.ATTEMPTS, GiveUpReason.NESTED);
	}

	private LlmCallReport onlyReport() {
		assertThat(this.simulation.reports).hasSize(1);
		return this.simulation.reports.get(0);
	}

	private static Queue<Throwable> outcomes(Throwable... failures) {
		return new ArrayDeque<>(List.of(failures));
	}

	private static CompletableFuture<String> attempt(Queue<Throwable> failures) {
		Throwable failure = failures.poll();
		return (failure != null) ? CompletableFuture.failedFuture(failure)
				: CompletableFuture.completedFuture("answer");
	}

	enum Driver {

		BLOCKING {
			@Override
			Runnable begin(Simulation simulation, Queue<Throwable> failures) {
				throw new UnsupportedOperationException("It returns in the end only");
			}

			@Override
			void call(Simulation simulation, Queue<Throwable> failures) {
				simulation.run("p", () -> {
					Throwable failure = failures.poll();
					if (failure != null) {
						throw failure;
					}
					return "answer";
				});
			}
		},

		FUTURE {
			@Override
			Runnable begin(Simulation simulation, Queue<Throwable> failures) {
				CompletableFuture<String> call = simulation.future("p", () -> attempt(failures));
				return () -> call.cancel(true);
			}
		},

		MONO {
			@Override
			Runnable begin(Simulation simulation, Queue<Throwable> failures) {
				return new ReactiveDriver(simulation.engine())
					.mono(simulation.plan("p"), null, 0, () -> Mono.fromFuture(attempt(failures)), null)
					.subscribe((value) -> {
					}, (thrown) -> {
					})::dispose;
			}
		},

		FLUX {
			@Override
			Runnable begin(Simulation simulation, Queue<Throwable> failures) {
				return new ReactiveDriver(simulation.engine())
					.flux(simulation.plan("p"), null, 0, () -> Flux.from(Mono.fromFuture(attempt(failures))), null)
					.subscribe((value) -> {
					}, (thrown) -> {
					})::dispose;
			}
		};

		/** Begins a call; what is returned cancels it. */
		abstract Runnable begin(Simulation simulation, Queue<Throwable> failures);

		void call(Simulation simulation, Queue<Throwable> failures) {
			begin(simulation, failures);
			simulation.time.runFor(Duration.ofMinutes(1));
		}

	}

}
