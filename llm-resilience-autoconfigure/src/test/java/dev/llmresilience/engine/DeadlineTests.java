package dev.llmresilience.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import dev.llmresilience.DeadlineExceededException;
import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmFailure.LatchScope;
import dev.llmresilience.LlmResilience;
import dev.llmresilience.RateLimitWaitException;
import dev.llmresilience.engine.Shape.Answer;
import dev.llmresilience.engine.Shape.Running;
import dev.llmresilience.engine.Shape.Script;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.policy.RetryPolicy;
import dev.llmresilience.test.SimulatedProvider;
import dev.llmresilience.test.SimulatedProvider.StatusException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

import static dev.llmresilience.engine.Simulation.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * The time that a call has: that of its policy, cases C115 to C119, and that of a request
 * which it is made for. No wait begins that cannot fit, and no attempt outlasts it.
 */
class DeadlineTests {

	private static final LimiterSettings OFF = LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF);

	private final Simulation simulation = new Simulation();

	@AfterEach
	void end() {
		this.simulation.close();
	}

	private void entry(RetryPolicy policy) {
		this.simulation.with("p", policy, OFF, null, null);
	}

	private static RetryPolicy within(Duration timeout) {
		return RetryPolicy.DEFAULTS.withTimeouts(timeout, timeout);
	}

	/** Cases C115 and C117. */
	static Stream<Arguments> hintsThatDoNotFit() {
		return Stream
			.of(arguments(Duration.ofSeconds(300), Duration.ofSeconds(4236)),
					arguments(Duration.ofSeconds(30), Duration.ofSeconds(3600)),
					arguments(Duration.ofSeconds(30), Duration.ofSeconds(60)),
					arguments(Duration.ofSeconds(30), Duration.ofSeconds(30)))
			.flatMap((row) -> Stream.of(Shape.values()).map((shape) -> arguments(shape, row.get()[0], row.get()[1])));
	}

	@ParameterizedTest
	@MethodSource("hintsThatDoNotFit")
	void aHintThatDoesNotFitEndsTheCallAtOnceAndSaysWhenToComeBack(Shape shape, Duration timeout, Duration hint) {
		entry(within(timeout));
		StatusException failure = new StatusException(429, hint);
		Script script = Script.failing(failure);
		Running call = shape.run(this.simulation, "p", script);
		assertThat(call.ended()).isZero();
		assertThat(call.thrown()).isSameAs(failure);
		assertThat(call.report().reason()).isEqualTo(GiveUpReason.RETRY_AFTER);
		assertThat(call.report().retryAt()).isEqualTo(Instant.parse("2026-10-01T00:00:00Z").plus(hint));
		assertThat(script.attempts()).isEqualTo(1);
	}

	/** Case C117. */
	@ParameterizedTest
	@EnumSource
	void aHintThatFitsIsWaitedFor(Shape shape) {
		entry(within(Duration.ofSeconds(30)));
		Running call = shape.run(this.simulation, "p", Script.failing(new StatusException(429, Duration.ofSeconds(2))));
		assertThat(call.result()).isEqualTo("answer");
		assertThat(call.ended()).isBetween(Duration.ofSeconds(2), Duration.ofSeconds(3));
	}

	/** Case C119: a policy by the clock, and a provider that says 20 s ten times. */
	@ParameterizedTest
	@EnumSource
	void rateLimitsMayBeRetriedByTheClockInsteadOfByTheirNumber(Shape shape) {
		entry(byTheClock(Duration.ofMinutes(30)));
		Script script = new Script((attempt) -> (attempt <= 10)
				? Answer.of(new StatusException(429, Duration.ofSeconds(20))) : Answer.AT_ONCE);
		Running call = shape.run(this.simulation, "p", script);
		assertThat(call.result()).isEqualTo("answer");
		assertThat(script.attempts()).isEqualTo(11);
		assertThat(call.ended()).isBetween(Duration.ofSeconds(200), Duration.ofSeconds(211));
	}

	@ParameterizedTest
	@EnumSource
	void rateLimitsThatLastLongerThanThatEndTheCall(Shape shape) {
		entry(byTheClock(Duration.ofSeconds(90)));
		Script script = new Script((attempt) -> Answer.of(new StatusException(429, Duration.ofSeconds(20))));
		Running call = shape.run(this.simulation, "p", script);
		assertThat(call.report().reason()).isEqualTo(GiveUpReason.ATTEMPTS);
		assertThat(call.ended()).isBetween(Duration.ofSeconds(90), Duration.ofSeconds(111));
	}

	/** Case C119: the clock does not bring money back. */
	@ParameterizedTest
	@EnumSource
	void anExhaustedQuotaIsNotRetriedByTheClockEither(Shape shape) {
		entry(byTheClock(Duration.ofMinutes(30)));
		this.simulation.classifier = (thrown, context) -> LlmFailure.of(FailureKind.QUOTA_EXHAUSTED)
			.withStatus(429)
			.withLatch(LatchScope.ACCOUNT, null);
		Script script = Script.failing(status(429));
		Running call = shape.run(this.simulation, "p", script);
		assertThat(call.thrown()).isInstanceOf(StatusException.class);
		assertThat(script.attempts()).isEqualTo(1);
	}

	private static RetryPolicy byTheClock(Duration maxElapsed) {
		RetryPolicy built = RetryPolicy.DEFAULTS.withTimeouts(Duration.ofHours(1), Duration.ofMinutes(4));
		return new RetryPolicy(built.maxAttempts(), built.rateLimitRetries(), maxElapsed, built.baseDelay(),
				built.rateLimitBaseDelay(), built.maxDelay(), built.multiplier(), built.jitter(), built.jitterFactor(),
				built.retryAfterSpread(), built.maxRetryAfter(), built.timeout(), built.attemptTimeout(),
				built.attemptTimeoutMultiplier());
	}

	@ParameterizedTest
	@EnumSource
	void aDeadlineFromOutsideBoundsTheWholeCall(Shape shape) {
		entry(Simulation.EXACT);
		Script script = new Script((attempt) -> Answer.of(status(503)));
		Running call = shape.run(this.simulation, "p", script.within(Duration.ofSeconds(5)));
		assertThat(call.report().reason()).isEqualTo(GiveUpReason.DEADLINE);
		assertThat(call.ended()).as("the third wait, of 4 s, would not fit").isEqualTo(Duration.ofSeconds(3));
		assertThat(script.attempts()).isEqualTo(3);
	}

	@ParameterizedTest
	@EnumSource
	void aDeadlineFromOutsideBoundsTheAttemptInFlight(Shape shape) {
		this.simulation.classifier = (thrown, context) -> null;
		entry(Simulation.EXACT);
		Script script = new Script((attempt) -> Answer.after(Duration.ofMinutes(1)));
		Running call = shape.run(this.simulation, "p", script.within(Duration.ofSeconds(5)));
		assertThat(call.ended()).isEqualTo(Duration.ofSeconds(5));
		assertThat(call.report().reason()).isEqualTo(GiveUpReason.DEADLINE);
		assertThat(call.report().lastKind()).isEqualTo(FailureKind.TIMEOUT);
		assertThat(script.attempts()).isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource
	void aDeadlineFromOutsideBoundsTheWaitForTheLimiter(Shape shape) {
		this.simulation.with("p", Simulation.EXACT, Simulation.ONE_PER_SECOND, null, null);
		shape.start(this.simulation, "p", Script.failing());
		Script never = Script.failing();
		Running call = shape.run(this.simulation, "p", never.within(Duration.ofMillis(500)));
		assertThat(call.thrown()).isInstanceOf(RateLimitWaitException.class);
		assertThat(call.ended()).as("refused at once").isZero();
		assertThat(never.attempts()).isZero();
	}

	static Stream<Arguments> noTime() {
		return Stream
			.of(Duration.ZERO, Duration.ofNanos(-1), Duration.ofMinutes(-5), Duration.ofDays(-200_000),
					Duration.ofSeconds(Long.MIN_VALUE))
			.flatMap((time) -> Stream.of(Shape.values()).map((shape) -> arguments(shape, time)));
	}

	@ParameterizedTest
	@MethodSource("noTime")
	void withoutTimeNoCallBegins(Shape shape, Duration timeLeft) {
		entry(Simulation.EXACT);
		Script script = Script.failing();
		Running call = shape.run(this.simulation, "p", script.within(timeLeft));
		assertThat(call.thrown()).isInstanceOf(DeadlineExceededException.class);
		assertThat(call.report().reason()).isEqualTo(GiveUpReason.DEADLINE);
		assertThat(script.attempts()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void aDeadlineThatIsNoLimitLeavesThePolicyIts(Shape shape) {
		entry(Simulation.EXACT.withTimeouts(Duration.ofSeconds(5), Duration.ofSeconds(5)));
		Script script = new Script((attempt) -> Answer.of(status(503)));
		Running call = shape.run(this.simulation, "p", script.within(Duration.ofSeconds(Long.MAX_VALUE)));
		assertThat(call.report().reason()).isEqualTo(GiveUpReason.DEADLINE);
		assertThat(call.ended()).isEqualTo(Duration.ofSeconds(3));
	}

	@Test
	void ofNestedDeadlinesTheEarlierHolds() {
		entry(Simulation.EXACT);
		LlmResilience resilience = this.simulation.resilience();
		List<Duration> left = new ArrayList<>();
		this.simulation.run(() -> {
			left.add(timeLeft());
			resilience.withDeadline(Duration.ofSeconds(10), () -> {
				left.add(resilience.withDeadline(Duration.ofSeconds(3), this::timeLeft));
				left.add(timeLeft());
				left.add(resilience.withDeadline(Duration.ofSeconds(30), this::timeLeft));
				left.add(timeLeft());
				return "";
			});
			left.add(timeLeft());
			return "";
		}).result();
		Duration policy = Duration.ofMinutes(10);
		assertThat(left).containsExactly(policy, Duration.ofSeconds(3), Duration.ofSeconds(10), Duration.ofSeconds(10),
				Duration.ofSeconds(10), policy);
	}

	@Test
	void theDeadlineBeforeHoldsAgainAlsoAfterAnException() {
		entry(Simulation.EXACT);
		LlmResilience resilience = this.simulation.resilience();
		List<Duration> left = new ArrayList<>();
		this.simulation.run(() -> {
			assertThatIllegalStateException().isThrownBy(() -> resilience.withDeadline(Duration.ofSeconds(3), () -> {
				throw new IllegalStateException("the task's own");
			}));
			left.add(timeLeft());
			return "";
		}).result();
		assertThat(left).containsExactly(Duration.ofMinutes(10));
	}

	private Duration timeLeft() throws Exception {
		return this.simulation.resilience().call("p", () -> Objects.requireNonNull(LlmCall.current()).timeLeft());
	}

	@Test
	void aFutureThatWasBegunOutsideIsNotBoundWhereItIsWaitedFor() throws Exception {
		entry(Simulation.EXACT);
		Script script = new Script((attempt) -> Answer.after(Duration.ofMinutes(1)));
		Running call = Shape.FUTURE.start(this.simulation, "p", script);
		this.simulation.resilience().withDeadline(Duration.ofSeconds(5), () -> {
			this.simulation.time.runFor(Duration.ofMinutes(2));
			return "";
		});
		assertThat(call.result()).isEqualTo("answer");
	}

	@Test
	void aPublisherIsBoundWhereSomebodySubscribesAndNotWhereItWasMade() throws Exception {
		entry(Simulation.EXACT);
		List<Duration> left = new ArrayList<>();
		Mono<String> calls = this.simulation.resilience()
			.withDeadline(Duration.ofSeconds(5), () -> new ReactiveDriver(this.simulation.engine())
				.mono(this.simulation.plan("p"), null, 0, () -> Mono.fromSupplier(() -> {
					left.add(Objects.requireNonNull(LlmCall.current()).timeLeft());
					return "answer";
				}), null));
		calls.block();
		this.simulation.resilience().withDeadline(Duration.ofSeconds(7), calls::block);
		assertThat(left).containsExactly(Duration.ofMinutes(10), Duration.ofSeconds(7));
	}

	/** A retry runs on another thread than the one that the deadline came in on. */
	@Test
	void aCallWithinACallHasNoMoreTimeThanThatAroundIt() throws Exception {
		entry(Simulation.EXACT);
		this.simulation.with("inner");
		List<Duration> left = new ArrayList<>();
		CompletableFuture<String> call = this.simulation.resilience()
			.withDeadline(Duration.ofSeconds(5), () -> this.simulation.future("p", () -> {
				left.add(this.simulation.resilience()
					.call("inner", () -> Objects.requireNonNull(LlmCall.current()).timeLeft()));
				return (left.size() == 1) ? CompletableFuture.failedFuture(status(500))
						: CompletableFuture.completedFuture("answer");
			}));
		this.simulation.time.runFor(Duration.ofSeconds(3));
		assertThat(call).isCompletedWithValue("answer");
		assertThat(left).containsExactly(Duration.ofSeconds(5), Duration.ofSeconds(4));
	}

	/** The wait of the inner call ends because the attempt around it is over its time. */
	@Test
	void anAttemptThatIsOverItsTimeWhileACallWithinItWaitsHasTimedOut() {
		this.simulation.classifier = SimulatedProvider.classifier(true);
		entry(Simulation.EXACT.withTimeouts(Duration.ofMinutes(1), Duration.ofSeconds(5)));
		this.simulation.with("inner");
		int[] attempts = new int[1];
		Simulation.Caller<String> caller = this.simulation.run("p", () -> {
			attempts[0]++;
			return (attempts[0] == 1) ? this.simulation.call("inner",
					new Simulation.Script(new StatusException(429, Duration.ofSeconds(30)))) : "answer";
		});
		assertThat(caller.result()).isEqualTo("answer");
		assertThat(caller.ended()).isEqualTo(Duration.ofSeconds(6));
		assertThat(caller.interrupted()).isFalse();
	}

	@Test
	void aFallbackMayAnswerForAnAttemptThatIsOverItsTimeWhileACallWithinItWaits() {
		entry(Simulation.EXACT.withTimeouts(Duration.ofMinutes(1), Duration.ofSeconds(5)).withAttempts(1, 0));
		this.simulation.with("inner");
		Simulation.Caller<String> caller = this.simulation
			.run(() -> this.simulation.call("p", this.simulation.options("p"),
					() -> this.simulation.call("inner",
							new Simulation.Script(new StatusException(429, Duration.ofSeconds(30)))),
					(failure) -> "fallback"));
		assertThat(caller.result()).isEqualTo("fallback");
	}

}
