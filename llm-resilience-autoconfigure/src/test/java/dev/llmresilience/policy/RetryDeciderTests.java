package dev.llmresilience.policy;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.function.DoubleSupplier;

import dev.llmresilience.FailureKind;
import dev.llmresilience.FailureKind.Ladder;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmFailure.Verdict;
import dev.llmresilience.policy.Decision.GiveUp;
import dev.llmresilience.policy.Decision.Retry;
import dev.llmresilience.policy.RetryDecider.Situation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class RetryDeciderTests {

	private static final double ALMOST_ONE = Math.nextDown(1.0);

	private static final Duration TEN_MINUTES = Duration.ofMinutes(10);

	private final AttemptHistory history = new AttemptHistory();

	private RetryPolicy policy = RetryPolicy.DEFAULTS;

	/* What is retried, and the order of the reasons not to. */

	@ParameterizedTest
	@EnumSource(mode = Mode.INCLUDE,
			names = { "RATE_LIMITED", "OVERLOADED", "SERVER_ERROR", "TIMEOUT", "CONNECTION", "CONFLICT" })
	void kindsThatCanPassAreRetried(FailureKind kind) {
		assertThat(after(LlmFailure.of(kind))).isInstanceOf(Retry.class);
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE,
			names = { "RATE_LIMITED", "OVERLOADED", "SERVER_ERROR", "TIMEOUT", "CONNECTION", "CONFLICT", "CANCELLED" })
	void kindsThatStayAreNot(FailureKind kind) {
		assertThat(reasonAfter(LlmFailure.of(kind))).isEqualTo(GiveUpReason.NOT_RETRYABLE);
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = { "CANCELLED", "QUOTA_EXHAUSTED" })
	void anExplicitWordLetsAKindBeRetried(FailureKind kind) {
		assertThat(after(LlmFailure.of(kind).withVerdict(Verdict.RETRY))).isInstanceOf(Retry.class);
	}

	@ParameterizedTest
	@EnumSource(FailureKind.class)
	void anExplicitWordForbidsAnyRetry(FailureKind kind) {
		assertThat(after(LlmFailure.of(kind).withVerdict(Verdict.NO_RETRY))).isInstanceOf(GiveUp.class);
	}

	@Test
	void aCancelledCallIsCancelledWhateverElseHolds() {
		LlmFailure failure = LlmFailure.of(FailureKind.CANCELLED).withVerdict(Verdict.RETRY);
		assertThat(reason(decide(failure, new Situation(0, 0, 1, false, true, false, Integer.MAX_VALUE, true))))
			.isEqualTo(GiveUpReason.CANCELLED);
	}

	@Test
	void aKindThatStaysComesBeforeASideEffect() {
		assertThat(reason(decide(LlmFailure.of(FailureKind.INVALID_REQUEST),
				new Situation(0, 0, 1, false, true, false, Integer.MAX_VALUE, true))))
			.isEqualTo(GiveUpReason.NOT_RETRYABLE);
	}

	@Test
	void aSideEffectComesBeforeAnUnknownOutcome() {
		assertThat(reason(decide(LlmFailure.of(FailureKind.TIMEOUT),
				new Situation(0, 0, 1, false, true, false, Integer.MAX_VALUE, true))))
			.isEqualTo(GiveUpReason.SIDE_EFFECT);
	}

	@Test
	void anUnknownOutcomeComesBeforeTheDeadline() {
		assertThat(reason(decide(LlmFailure.of(FailureKind.TIMEOUT),
				new Situation(0, 0, 1, false, false, false, Integer.MAX_VALUE, true))))
			.isEqualTo(GiveUpReason.OUTCOME_UNKNOWN);
	}

	@Test
	void theDeadlineComesBeforeTheLadder() {
		assertThat(reason(decide(LlmFailure.of(FailureKind.TIMEOUT),
				new Situation(0, 0, 1, true, false, false, Integer.MAX_VALUE, true))))
			.isEqualTo(GiveUpReason.DEADLINE);
	}

	@Test
	void theLadderComesBeforeAHintThatIsTooLong() {
		LlmFailure failure = LlmFailure.of(FailureKind.RATE_LIMITED).withHint(Duration.ofHours(1));
		assertThat(reason(decide(failure,
				new Situation(0, TEN_MINUTES.toNanos(), 1, true, false, false, Integer.MAX_VALUE, true))))
			.isEqualTo(GiveUpReason.ATTEMPTS);
	}

	@Test
	void aHintThatIsTooLongComesBeforeTheWait() {
		LlmFailure failure = LlmFailure.of(FailureKind.RATE_LIMITED).withHint(Duration.ofSeconds(30));
		assertThat(reason(decide(failure, within(Duration.ofSeconds(20))))).isEqualTo(GiveUpReason.RETRY_AFTER);
	}

	@ParameterizedTest
	@CsvSource({ "TIMEOUT, true, OUTCOME_UNKNOWN", "CONNECTION, true, OUTCOME_UNKNOWN", "CONNECTION, false, ",
			"SERVER_ERROR, true, ", "OVERLOADED, true, " })
	void onlyAnUnknownOutcomeStopsACallThatMayNotRunTwice(FailureKind kind, boolean sent,
			@Nullable GiveUpReason reason) {
		Decision decision = decide(LlmFailure.of(kind).withSent(sent),
				new Situation(0, TEN_MINUTES.toNanos(), 10, false, false, false, Integer.MAX_VALUE, true));
		if (reason != null) {
			assertThat(reason(decision)).isEqualTo(reason);
		}
		else {
			assertThat(decision).isInstanceOf(Retry.class);
		}
	}

	@Test
	void aSideEffectStopsEvenAKnownOutcome() {
		assertThat(reason(decide(LlmFailure.of(FailureKind.SERVER_ERROR),
				new Situation(0, TEN_MINUTES.toNanos(), 10, true, true, false, Integer.MAX_VALUE, true))))
			.isEqualTo(GiveUpReason.SIDE_EFFECT);
	}

	/* Ladders. */

	@Test
	void theTransportLadderEndsAtMaxAttempts() {
		LlmFailure failure = LlmFailure.of(FailureKind.SERVER_ERROR);
		for (int i = 0; i < 3; i++) {
			assertThat(after(failure)).isInstanceOf(Retry.class);
		}
		assertThat(reasonAfter(failure)).isEqualTo(GiveUpReason.ATTEMPTS);
	}

	@Test
	void theRateLimitLadderEndsAfterItsRetries() {
		LlmFailure failure = LlmFailure.of(FailureKind.RATE_LIMITED);
		for (int i = 0; i < 5; i++) {
			assertThat(after(failure)).isInstanceOf(Retry.class);
		}
		assertThat(reasonAfter(failure)).isEqualTo(GiveUpReason.ATTEMPTS);
	}

	@Test
	void theLaddersAreIndependent() {
		for (int i = 0; i < 5; i++) {
			assertThat(after(LlmFailure.of(FailureKind.RATE_LIMITED))).isInstanceOf(Retry.class);
		}
		for (int i = 0; i < 3; i++) {
			assertThat(after(LlmFailure.of(FailureKind.SERVER_ERROR))).isInstanceOf(Retry.class);
		}
		assertThat(this.history.failures()).isEqualTo(8);
		assertThat(reasonAfter(LlmFailure.of(FailureKind.OVERLOADED))).isEqualTo(GiveUpReason.ATTEMPTS);
	}

	@Test
	void eachLadderHasItsOwnCeiling() {
		this.policy = this.policy.withBackoff(Jitter.NONE, Duration.ofSeconds(1), Duration.ofSeconds(30));
		assertThat(delayAfter(LlmFailure.of(FailureKind.SERVER_ERROR))).isEqualTo(Duration.ofSeconds(1));
		assertThat(delayAfter(LlmFailure.of(FailureKind.SERVER_ERROR))).isEqualTo(Duration.ofSeconds(2));
		assertThat(delayAfter(LlmFailure.of(FailureKind.RATE_LIMITED))).isEqualTo(Duration.ofSeconds(1));
		assertThat(delayAfter(LlmFailure.of(FailureKind.SERVER_ERROR))).isEqualTo(Duration.ofSeconds(4));
	}

	@Test
	void oneAttemptMeansThatNothingIsEverRetried() {
		this.policy = this.policy.withAttempts(1, 5);
		assertThat(reasonAfter(LlmFailure.of(FailureKind.RATE_LIMITED))).isEqualTo(GiveUpReason.ATTEMPTS);
	}

	@Test
	void aMethodsOwnCapCountsBothLadders() {
		Situation capped = new Situation(0, TEN_MINUTES.toNanos(), 2, true, false, false, Integer.MAX_VALUE, true);
		assertThat(decide(LlmFailure.of(FailureKind.SERVER_ERROR), capped)).isInstanceOf(Retry.class);
		assertThat(reason(decide(LlmFailure.of(FailureKind.RATE_LIMITED), capped))).isEqualTo(GiveUpReason.ATTEMPTS);
	}

	@Test
	void aFailureCanDeserveFewerRetriesThanItsLadderHas() {
		LlmFailure failure = LlmFailure.of(FailureKind.CONNECTION).withMaxRetries(1);
		assertThat(after(failure)).isInstanceOf(Retry.class);
		assertThat(reasonAfter(failure)).isEqualTo(GiveUpReason.ATTEMPTS);
	}

	@Test
	void aLimiterThatPacesMakesUpForAFailureThatDeservesFewerRetries() {
		LlmFailure failure = LlmFailure.of(FailureKind.RATE_LIMITED).withMaxRetries(1);
		decide(failure, paced());
		assertThat(decide(failure, paced())).isInstanceOf(Retry.class);
	}

	@Test
	void theRateLimitLadderCanBeBoundedByTimeInsteadOfACount() {
		this.policy = this.policy.withAttempts(4, 3).withRateLimitMaxElapsed(Duration.ofMinutes(3));
		LlmFailure failure = LlmFailure.of(FailureKind.RATE_LIMITED).withHint(Duration.ofSeconds(20));
		int calls = 1;
		long now = 0;
		while (decide(failure, new Situation(now, Duration.ofHours(1).toNanos(), 100, true, false, false,
				Integer.MAX_VALUE, true)) instanceof Retry) {
			calls++;
			now += Duration.ofSeconds(20).toNanos();
		}
		assertThat(calls).isEqualTo(10);
	}

	@Test
	void timeDoesNotBoundTheTransportLadder() {
		this.policy = this.policy.withRateLimitMaxElapsed(Duration.ofMinutes(3));
		LlmFailure failure = LlmFailure.of(FailureKind.SERVER_ERROR);
		assertThat(decide(failure, new Situation(Duration.ofMinutes(9).toNanos(), TEN_MINUTES.toNanos(), 100, true,
				false, false, Integer.MAX_VALUE, true)))
			.isInstanceOf(Retry.class);
	}

	/* Waits. */

	@ParameterizedTest
	@CsvSource({ "FULL, 0, 0", "FULL, 0.5, 2000", "FULL, 1, 4000", "EQUAL, 0, 2000", "EQUAL, 0.5, 3000",
			"EQUAL, 1, 4000", "DECORRELATED, 0, 1000", "DECORRELATED, 0.5, 2000", "DECORRELATED, 1, 3000",
			"PROPORTIONAL, 0, 3600", "PROPORTIONAL, 0.5, 4000", "PROPORTIONAL, 1, 4400", "NONE, 0, 4000",
			"NONE, 0.5, 4000", "NONE, 1, 4000" })
	void eachJitterShapesTheThirdBackoffOfASecond(Jitter jitter, double random, long millis) {
		this.policy = this.policy.withBackoff(jitter, Duration.ofSeconds(1), Duration.ofSeconds(30));
		LlmFailure failure = LlmFailure.of(FailureKind.SERVER_ERROR);
		this.history.failed(Ladder.TRANSPORT, 0);
		this.history.failed(Ladder.TRANSPORT, 0);
		Retry retry = retry(decide(failure, within(TEN_MINUTES), (random == 1) ? ALMOST_ONE : random));
		assertThat(retry.delayNanos()).isCloseTo(Duration.ofMillis(millis).toNanos(),
				org.assertj.core.api.Assertions.within(1L));
		assertThat(retry.backoffNanos()).isEqualTo(retry.delayNanos());
	}

	@ParameterizedTest
	@EnumSource(Jitter.class)
	void noBackoffIsLongerThanTheLongestDelayAndProportionalJitterAllows(Jitter jitter) {
		this.policy = this.policy.withAttempts(100, 100)
			.withBackoff(jitter, Duration.ofSeconds(1), Duration.ofSeconds(30));
		for (int i = 0; i < 99; i++) {
			Retry retry = retry(decide(LlmFailure.of(FailureKind.SERVER_ERROR), within(TEN_MINUTES), ALMOST_ONE));
			this.history.retrying(retry);
			assertThat(Duration.ofNanos(retry.delayNanos())).isBetween(Duration.ZERO, Duration.ofSeconds(33));
		}
	}

	@Test
	void decorrelatedJitterGrowsFromTheBackoffBefore() {
		this.policy = this.policy.withAttempts(10, 10)
			.withBackoff(Jitter.DECORRELATED, Duration.ofSeconds(1), Duration.ofSeconds(30));
		long[] delays = new long[4];
		for (int i = 0; i < delays.length; i++) {
			Retry retry = retry(decide(LlmFailure.of(FailureKind.SERVER_ERROR), within(TEN_MINUTES), 0.5));
			this.history.retrying(retry);
			delays[i] = Duration.ofNanos(retry.delayNanos()).toMillis();
		}
		assertThat(delays).containsExactly(2000, 3500, 5750, 9125);
	}

	@Test
	void withoutAHintTheRateLimitLadderStartsAtItsOwnBaseDelay() {
		assertThat(delayAfter(LlmFailure.of(FailureKind.RATE_LIMITED), 0.5)).isEqualTo(Duration.ofMillis(2500));
	}

	@Test
	void withAHintTheRateLimitLadderStartsAtTheOrdinaryBaseDelay() {
		LlmFailure failure = LlmFailure.of(FailureKind.RATE_LIMITED).withHint(Duration.ofMillis(100));
		assertThat(delayAfter(failure, 0.5, 0.0)).isEqualTo(Duration.ofMillis(250));
	}

	@ParameterizedTest
	@ValueSource(doubles = { 0, 0.25, 0.5, 0.75, 0.999999 })
	void aHintIsAFloorAndJitterOnlyAddsToIt(double random) {
		LlmFailure failure = LlmFailure.of(FailureKind.RATE_LIMITED).withHint(Duration.ofSeconds(20));
		assertThat(delayAfter(failure, 0.0, random)).isBetween(Duration.ofSeconds(20), Duration.ofSeconds(21));
		assertThat(delayAfter(failure, 0.0, random)).isEqualTo(Duration.ofSeconds(20).plusNanos((long) (random * 1e9)));
	}

	@Test
	void aBackoffThatIsLongerThanTheHintWins() {
		this.policy = this.policy.withBackoff(Jitter.NONE, Duration.ofSeconds(10), Duration.ofSeconds(30));
		LlmFailure failure = LlmFailure.of(FailureKind.OVERLOADED).withHint(Duration.ofSeconds(3));
		assertThat(delayAfter(failure, 0.0, 0.5)).isEqualTo(Duration.ofMillis(10_500));
	}

	@Test
	void aHintOfZeroIsNoHint() {
		this.policy = this.policy.withBackoff(Jitter.NONE, Duration.ofSeconds(1), Duration.ofSeconds(30));
		LlmFailure failure = LlmFailure.of(FailureKind.RATE_LIMITED).withHint(Duration.ZERO);
		assertThat(delayAfter(failure, 0.5)).isEqualTo(Duration.ofSeconds(1));
	}

	@Test
	void aRetryThatALimiterPacesWaitsForTheHintAlone() {
		LlmFailure failure = LlmFailure.of(FailureKind.RATE_LIMITED).withHint(Duration.ofSeconds(3));
		assertThat(decide(failure, paced())).isEqualTo(new Retry(Duration.ofSeconds(3).toNanos(), 0, false));
	}

	@Test
	void aRetryThatNoLimiterPacesSpendsBudget() {
		assertThat(retry(after(LlmFailure.of(FailureKind.RATE_LIMITED))).spendsBudget()).isTrue();
	}

	@Test
	void aHintAboveTheLongestAllowedEndsTheCallAndIsPassedOn() {
		LlmFailure failure = LlmFailure.of(FailureKind.RATE_LIMITED).withHint(Duration.ofSeconds(121));
		assertThat(after(failure)).isEqualTo(new GiveUp(GiveUpReason.RETRY_AFTER, Duration.ofSeconds(121)));
	}

	@Test
	void aHintOfExactlyTheLongestAllowedIsWaitedFor() {
		LlmFailure failure = LlmFailure.of(FailureKind.RATE_LIMITED).withHint(Duration.ofMinutes(2));
		assertThat(after(failure)).isInstanceOf(Retry.class);
	}

	@Test
	void anAbsurdHintDoesNotOverflow() {
		LlmFailure failure = LlmFailure.of(FailureKind.RATE_LIMITED).withHint(Duration.ofSeconds(Long.MAX_VALUE));
		assertThat(reasonAfter(failure)).isEqualTo(GiveUpReason.RETRY_AFTER);
	}

	@Test
	void aWaitIsNeverShortenedToFitTheDeadline() {
		this.policy = this.policy.withBackoff(Jitter.NONE, Duration.ofSeconds(1), Duration.ofSeconds(30));
		LlmFailure failure = LlmFailure.of(FailureKind.SERVER_ERROR);
		assertThat(reason(decide(failure, within(Duration.ofSeconds(1))))).isEqualTo(GiveUpReason.DEADLINE);
	}

	@Test
	void aHintThatFitsButNotWithItsSpreadEndsAtTheDeadline() {
		LlmFailure failure = LlmFailure.of(FailureKind.RATE_LIMITED).withHint(Duration.ofSeconds(3));
		assertThat(reason(decide(failure, within(Duration.ofMillis(3200)), 0.0, 0.5))).isEqualTo(GiveUpReason.DEADLINE);
	}

	@Test
	void aThousandFailuresDoNotOverflowTheCeiling() {
		this.policy = this.policy.withAttempts(5000, 5000)
			.withBackoff(Jitter.NONE, Duration.ofSeconds(1), Duration.ofSeconds(30));
		for (int i = 0; i < 2000; i++) {
			this.history.failed(Ladder.TRANSPORT, 0);
		}
		assertThat(delayAfter(LlmFailure.of(FailureKind.SERVER_ERROR))).isEqualTo(Duration.ofSeconds(30));
	}

	private Decision after(LlmFailure failure, double... random) {
		return decide(failure, within(TEN_MINUTES), random);
	}

	private GiveUpReason reasonAfter(LlmFailure failure) {
		return reason(after(failure));
	}

	private Duration delayAfter(LlmFailure failure, double... random) {
		return Duration.ofNanos(retry(after(failure, random)).delayNanos());
	}

	private Decision decide(LlmFailure failure, Situation situation, double... random) {
		this.history.failed(RetryDecider.ladder(failure), situation.now());
		return RetryDecider.decide(this.policy, this.history, failure, situation, numbers(random));
	}

	private static Situation within(Duration timeLeft) {
		return new Situation(0, timeLeft.toNanos(), Integer.MAX_VALUE, true, false, false, Integer.MAX_VALUE, true);
	}

	private static Situation paced() {
		return new Situation(0, TEN_MINUTES.toNanos(), Integer.MAX_VALUE, true, false, true, Integer.MAX_VALUE, true);
	}

	/** The given numbers, and then a half for ever. */
	private static DoubleSupplier numbers(double... random) {
		Deque<Double> left = new ArrayDeque<>(Arrays.stream(random).boxed().toList());
		return () -> {
			Double next = left.poll();
			return (next != null) ? next : 0.5;
		};
	}

	private static GiveUpReason reason(Decision decision) {
		assertThat(decision).isInstanceOf(GiveUp.class);
		return ((GiveUp) decision).reason();
	}

	private static Retry retry(Decision decision) {
		assertThat(decision).isInstanceOf(Retry.class);
		return (Retry) decision;
	}

}
