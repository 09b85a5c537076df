package dev.llmresilience.breaker;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;

import dev.llmresilience.FailureKind;
import dev.llmresilience.breaker.CircuitBreaker.Permit;
import dev.llmresilience.test.SettableTime;
import dev.llmresilience.test.VirtualTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class CircuitBreakerTests {

	private static final Instant START = VirtualTime.DEFAULT_START;

	private final SettableTime time = new SettableTime();

	private final List<BreakerTransition> transitions = new ArrayList<>();

	@Test
	void opensAtTheThresholdOfConsecutiveFailures() {
		CircuitBreaker breaker = breaker(3);
		fail(breaker, 2);
		assertThat(breaker.state()).isEqualTo(BreakerState.CLOSED);
		fail(breaker, 1);
		assertThat(breaker.state()).isEqualTo(BreakerState.OPEN);
		assertThat(breaker.tryAcquire()).isNull();
	}

	@Test
	void aSuccessStartsTheCountAgain() {
		CircuitBreaker breaker = breaker(3);
		fail(breaker, 2);
		permit(breaker).success();
		fail(breaker, 2);
		assertThat(breaker.state()).isEqualTo(BreakerState.CLOSED);
		assertThat(breaker.snapshot().consecutiveFailures()).isEqualTo(2);
	}

	@Test
	void neutralOutcomesNeitherCountNorClear() {
		CircuitBreaker breaker = breaker(3);
		fail(breaker, 2);
		for (int i = 0; i < 100; i++) {
			permit(breaker).neutral();
		}
		assertThat(breaker.snapshot().consecutiveFailures()).isEqualTo(2);
		fail(breaker, 1);
		assertThat(breaker.state()).isEqualTo(BreakerState.OPEN);
	}

	@Test
	void aThresholdThatChangesKeepsTheCount() {
		CircuitBreaker breaker = breaker(10);
		fail(breaker, 3);
		breaker.configure(threshold(4));
		assertThat(breaker.state()).isEqualTo(BreakerState.CLOSED);
		assertThat(breaker.snapshot().consecutiveFailures()).isEqualTo(3);
		assertThat(breaker.snapshot().failureThreshold()).isEqualTo(4);
		fail(breaker, 1);
		assertThat(breaker.state()).isEqualTo(BreakerState.OPEN);
	}

	@Test
	void anAttemptInFlightCountsByTheThresholdThatHoldsWhenItEnds() {
		CircuitBreaker breaker = breaker(10);
		Permit before = permit(breaker);
		breaker.configure(threshold(1));
		before.failure(FailureKind.SERVER_ERROR, 500, 0);
		assertThat(breaker.state()).isEqualTo(BreakerState.OPEN);
	}

	@Test
	void aShareThatChangesKeepsTheWindowUnlessItsSizeDoes() {
		CircuitBreaker breaker = breaker(withRate(90.0, 4));
		fail(breaker, 3);
		breaker.configure(withRate(50.0, 4));
		permit(breaker).success();
		fail(breaker, 1);
		assertThat(breaker.state()).isEqualTo(BreakerState.OPEN);
		breaker.close();
		fail(breaker, 3);
		breaker.configure(withRate(50.0, 8));
		fail(breaker, 5);
		assertThat(breaker.state()).as("five of a window of eight").isEqualTo(BreakerState.CLOSED);
		fail(breaker, 3);
		assertThat(breaker.state()).isEqualTo(BreakerState.OPEN);
	}

	@Test
	void staysClosedOver284FailuresOf1000ThatNeverComeFiveInARow() {
		CircuitBreaker breaker = breaker(5);
		int failures = 0;
		// Four failures and then eleven successes, or near enough to end at 284.
		for (int i = 0; i < 1000; i++) {
			boolean fails = failures < 284 && i % 14 < 4;
			failures += fails ? 1 : 0;
			report(breaker, fails);
			assertThat(breaker.state()).isEqualTo(BreakerState.CLOSED);
		}
		assertThat(failures).isEqualTo(284);
		assertThat(this.transitions).isEmpty();
	}

	@Test
	void staysClosedOverAThousandCallsOf30PercentRandomFailuresInAtLeast99PercentOfSeeds() {
		int closed = 0;
		for (int seed = 0; seed < 200; seed++) {
			SplittableRandom random = new SplittableRandom(seed);
			CircuitBreaker breaker = new CircuitBreaker("p", BreakerSettings.DEFAULTS, this.time, (transition) -> {
			});
			for (int i = 0; i < 1000 && breaker.state() == BreakerState.CLOSED; i++) {
				report(breaker, random.nextDouble() < 0.3);
			}
			closed += (breaker.state() == BreakerState.CLOSED) ? 1 : 0;
		}
		System.out.println("30 % random failures, 1,000 calls, default threshold: closed in " + closed + " of 200");
		assertThat(closed).isGreaterThanOrEqualTo(198);
	}

	@Test
	void letsOneTrialOutWhenTheOpenTimeIsOver() {
		CircuitBreaker breaker = open(breaker(1));
		this.time.advance(Duration.ofMillis(29_999));
		assertThat(breaker.tryAcquire()).isNull();
		this.time.advance(Duration.ofMillis(1));
		assertThat(permit(breaker).isTrial()).isTrue();
		assertThat(breaker.state()).isEqualTo(BreakerState.HALF_OPEN);
		assertThat(breaker.tryAcquire()).isNull();
		assertThat(breaker.snapshot().trialInFlight()).isTrue();
	}

	@Test
	void oneSuccessClosesAndClearsAllCounts() {
		CircuitBreaker breaker = open(breaker(3));
		breaker.onRejected();
		halfOpen(breaker).success();
		BreakerSnapshot snapshot = breaker.snapshot();
		assertThat(snapshot.state()).isEqualTo(BreakerState.CLOSED);
		assertThat(snapshot.consecutiveFailures()).isZero();
		assertThat(snapshot.rejectedCalls()).isZero();
		assertThat(snapshot.openedAt()).isNull();
		assertThat(snapshot.nextTrialAt()).isNull();
		fail(breaker, 2);
		assertThat(breaker.state()).isEqualTo(BreakerState.CLOSED);
	}

	@Test
	void aFailedTrialReopens() {
		CircuitBreaker breaker = open(breaker(1));
		halfOpen(breaker).failure(FailureKind.OVERLOADED, 529, 0);
		assertThat(breaker.state()).isEqualTo(BreakerState.OPEN);
		assertThat(breaker.tryAcquire()).isNull();
		assertThat(breaker.snapshot().openedAt()).isEqualTo(START);
		assertThat(breaker.snapshot().lastFailure())
			.isEqualTo(new LastFailure(FailureKind.OVERLOADED, 529, this.time.now()));
	}

	@Test
	void aNeutralTrialFreesThePlaceForTheNextCaller() {
		CircuitBreaker breaker = open(breaker(1));
		halfOpen(breaker).neutral();
		assertThat(breaker.state()).isEqualTo(BreakerState.HALF_OPEN);
		assertThat(breaker.snapshot().trialInFlight()).isFalse();
		assertThat(permit(breaker).isTrial()).isTrue();
		assertThat(breaker.tryAcquire()).isNull();
	}

	@Test
	void whatDoesNotShowAsAnotherStateIsNoTransition() {
		CircuitBreaker breaker = breaker(1);
		breaker.close();
		assertThat(this.transitions).isEmpty();
		halfOpen(open(breaker)).neutral();
		permit(breaker);
		this.time.advance(Duration.ofMinutes(2));
		permit(breaker);
		assertThat(this.transitions).extracting(BreakerTransition::to)
			.containsExactly(BreakerState.OPEN, BreakerState.HALF_OPEN);
	}

	@Test
	void aTrialThatHangsLosesItsPlaceAfterTheTrialTimeout() {
		CircuitBreaker breaker = open(breaker(1));
		Permit hanging = halfOpen(breaker);
		this.time.advance(Duration.ofMinutes(2).minusNanos(1));
		assertThat(breaker.tryAcquire()).isNull();
		this.time.advance(Duration.ofNanos(1));
		Permit next = permit(breaker);
		assertThat(next.isTrial()).isTrue();
		hanging.failure(FailureKind.TIMEOUT, 0, 0);
		assertThat(breaker.state()).isEqualTo(BreakerState.HALF_OPEN);
		next.success();
		assertThat(breaker.state()).isEqualTo(BreakerState.CLOSED);
	}

	@ParameterizedTest
	@ValueSource(strings = { "success", "failure", "neutral" })
	void aCallAdmittedWhileClosedThatEndsWhileHalfOpenChangesNothing(String outcome) {
		CircuitBreaker breaker = breaker(1);
		Permit early = permit(breaker);
		Permit trial = halfOpen(open(breaker));
		report(early, outcome);
		assertThat(breaker.state()).isEqualTo(BreakerState.HALF_OPEN);
		assertThat(breaker.snapshot().trialInFlight()).isTrue();
		assertThat(breaker.tryAcquire()).isNull();
		trial.success();
		assertThat(breaker.state()).isEqualTo(BreakerState.CLOSED);
	}

	@ParameterizedTest
	@ValueSource(strings = { "success", "failure", "neutral" })
	void aCallAdmittedWhileClosedThatEndsWhileOpenChangesNothing(String outcome) {
		CircuitBreaker breaker = breaker(1);
		Permit early = permit(breaker);
		open(breaker);
		BreakerSnapshot before = breaker.snapshot();
		report(early, outcome);
		assertThat(breaker.snapshot()).isEqualTo(before);
	}

	@ParameterizedTest
	@ValueSource(strings = { "success", "failure", "neutral" })
	void aCallOfAnEarlierClosedEraChangesNothingInALaterOne(String outcome) {
		CircuitBreaker breaker = breaker(2);
		Permit early = permit(breaker);
		halfOpen(open(breaker)).success();
		fail(breaker, 1);
		report(early, outcome);
		assertThat(breaker.state()).isEqualTo(BreakerState.CLOSED);
		assertThat(breaker.snapshot().consecutiveFailures()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "success", "failure", "neutral" })
	void aSecondReportOfATrialChangesNothing(String outcome) {
		CircuitBreaker breaker = open(breaker(1));
		Permit trial = halfOpen(breaker);
		trial.neutral();
		Permit next = permit(breaker);
		report(trial, outcome);
		assertThat(breaker.state()).isEqualTo(BreakerState.HALF_OPEN);
		assertThat(breaker.snapshot().trialInFlight()).isTrue();
		next.success();
		assertThat(breaker.state()).isEqualTo(BreakerState.CLOSED);
	}

	@Test
	void openTimeDoublesWithEachFailedTrialUpToTheLongest() {
		CircuitBreaker breaker = open(breaker(1));
		List<Long> seconds = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			seconds.add(openTime(breaker).toSeconds());
			halfOpen(breaker).failure(FailureKind.SERVER_ERROR, 500, 0);
		}
		assertThat(seconds).containsExactly(30L, 60L, 120L, 240L, 300L, 300L);
	}

	@Test
	void aNeutralTrialDoesNotDoubleTheOpenTime() {
		CircuitBreaker breaker = open(breaker(1));
		halfOpen(breaker).neutral();
		permit(breaker).failure(FailureKind.SERVER_ERROR, 500, 0);
		assertThat(openTime(breaker)).isEqualTo(Duration.ofSeconds(60));
	}

	@Test
	void closingStartsTheOpenTimeAgain() {
		CircuitBreaker breaker = open(breaker(1));
		halfOpen(breaker).failure(FailureKind.SERVER_ERROR, 500, 0);
		halfOpen(breaker).success();
		open(breaker);
		assertThat(openTime(breaker)).isEqualTo(Duration.ofSeconds(30));
	}

	@ParameterizedTest
	@CsvSource({ "0.0, 30.0", "0.5, 31.5", "0.99999, 33.0" })
	void openTimeIsJitteredUpwardByAtMostTenPercent(double random, double seconds) {
		this.time.random(random);
		CircuitBreaker breaker = open(breaker(1));
		assertThat(openTime(breaker)).isEqualTo(Duration.ofNanos(Math.round(seconds * 1e9)));
	}

	@ParameterizedTest
	@CsvSource({ "10, 30", "45, 45" })
	void openTimeIsAtLeastTheServersHint(long hint, long seconds) {
		CircuitBreaker breaker = breaker(1);
		permit(breaker).failure(FailureKind.OVERLOADED, 503, Duration.ofSeconds(hint).toNanos());
		assertThat(openTime(breaker)).isEqualTo(Duration.ofSeconds(seconds));
	}

	@Test
	void opensAtTheFailureRateOnceTheWindowIsFull() {
		CircuitBreaker breaker = breaker(withRate(50.0, 10));
		for (int i = 0; i < 9; i++) {
			report(breaker, i % 2 == 0);
		}
		assertThat(breaker.state()).isEqualTo(BreakerState.CLOSED);
		report(breaker, true);
		assertThat(breaker.state()).isEqualTo(BreakerState.OPEN);
	}

	@Test
	void theWindowForgetsTheOldestOutcomes() {
		CircuitBreaker breaker = breaker(withRate(50.0, 10));
		for (int i = 0; i < 4; i++) {
			report(breaker, true);
		}
		for (int i = 0; i < 10; i++) {
			report(breaker, false);
		}
		for (int i = 0; i < 4; i++) {
			report(breaker, true);
		}
		assertThat(breaker.state()).isEqualTo(BreakerState.CLOSED);
		report(breaker, true);
		assertThat(breaker.state()).isEqualTo(BreakerState.OPEN);
	}

	@Test
	void neutralOutcomesDoNotFillTheWindow() {
		CircuitBreaker breaker = breaker(withRate(50.0, 4));
		report(breaker, true);
		report(breaker, true);
		permit(breaker).neutral();
		permit(breaker).neutral();
		report(breaker, false);
		assertThat(breaker.state()).isEqualTo(BreakerState.CLOSED);
		report(breaker, true);
		assertThat(breaker.state()).isEqualTo(BreakerState.OPEN);
	}

	@Test
	void slowSuccessesCountAsFailures() {
		CircuitBreaker breaker = breaker(new BreakerSettings(2, null, 100, Duration.ofSeconds(10),
				Duration.ofSeconds(30), Duration.ofMinutes(5), Duration.ofMinutes(2)));
		assertThat(breaker.measuresDuration()).isTrue();
		permit(breaker).success(Duration.ofSeconds(11).toNanos());
		permit(breaker).success(Duration.ofSeconds(10).toNanos());
		permit(breaker).success(Duration.ofSeconds(11).toNanos());
		assertThat(breaker.state()).isEqualTo(BreakerState.CLOSED);
		permit(breaker).success(Duration.ofSeconds(11).toNanos());
		assertThat(breaker.state()).isEqualTo(BreakerState.OPEN);
		LastFailure last = Objects.requireNonNull(breaker.snapshot().lastFailure());
		assertThat(last.kind()).isEqualTo(FailureKind.TIMEOUT);
	}

	@Test
	void aSlowTrialReopens() {
		CircuitBreaker breaker = open(breaker(new BreakerSettings(1, null, 100, Duration.ofSeconds(10),
				Duration.ofSeconds(30), Duration.ofMinutes(5), Duration.ofMinutes(2))));
		halfOpen(breaker).success(Duration.ofSeconds(11).toNanos());
		assertThat(breaker.state()).isEqualTo(BreakerState.OPEN);
	}

	@Test
	void forcedOpenRefusesUntilAnOperatorClosesIt() {
		CircuitBreaker breaker = breaker(1);
		breaker.forceOpen();
		this.time.advance(Duration.ofDays(30));
		assertThat(breaker.tryAcquire()).isNull();
		assertThat(breaker.refusesUntil(Long.MAX_VALUE / 2)).isTrue();
		assertThat(breaker.nextTrialAt()).isNull();
		assertThat(breaker.snapshot().openedAt()).isEqualTo(START);
		breaker.close();
		assertThat(permit(breaker).isTrial()).isFalse();
	}

	@Test
	void disabledLetsAllPassUncounted() {
		CircuitBreaker breaker = breaker(1);
		breaker.disable();
		fail(breaker, 100);
		assertThat(breaker.state()).isEqualTo(BreakerState.DISABLED);
		assertThat(breaker.refuses()).isFalse();
		assertThat(breaker.snapshot().lastFailure()).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "success", "failure", "neutral" })
	void aTrialThatEndsAfterAnOperatorForcedAStateChangesNothing(String outcome) {
		CircuitBreaker breaker = open(breaker(1));
		Permit trial = halfOpen(breaker);
		breaker.forceOpen();
		report(trial, outcome);
		assertThat(breaker.state()).isEqualTo(BreakerState.FORCED_OPEN);
	}

	@Test
	void anOperatorClosesAnOpenBreakerAndClearsItsCounts() {
		CircuitBreaker breaker = open(breaker(1));
		assertThat(breaker.tryAcquire()).isNull();
		breaker.close();
		assertThat(breaker.snapshot()).satisfies((snapshot) -> {
			assertThat(snapshot.state()).isEqualTo(BreakerState.CLOSED);
			assertThat(snapshot.consecutiveFailures()).isZero();
			assertThat(snapshot.rejectedCalls()).isZero();
		});
	}

	@Test
	void countsTheCallsItRefusedSinceItOpened() {
		CircuitBreaker breaker = open(breaker(1));
		assertThat(breaker.tryAcquire()).isNull();
		breaker.onRejected();
		assertThat(breaker.snapshot().rejectedCalls()).isEqualTo(2);
		halfOpen(breaker).failure(FailureKind.SERVER_ERROR, 500, 0);
		assertThat(breaker.tryAcquire()).isNull();
		assertThat(breaker.snapshot().rejectedCalls()).isEqualTo(3);
	}

	@Test
	void tellsOfEachTransitionOnce() {
		CircuitBreaker breaker = open(breaker(1));
		Instant trialAt = START.plusSeconds(30);
		halfOpen(breaker).success();
		LastFailure cause = new LastFailure(FailureKind.SERVER_ERROR, 500, START);
		assertThat(this.transitions).containsExactly(
				new BreakerTransition("p", BreakerState.CLOSED, BreakerState.OPEN, START, trialAt, cause),
				new BreakerTransition("p", BreakerState.OPEN, BreakerState.HALF_OPEN, trialAt, null, null),
				new BreakerTransition("p", BreakerState.HALF_OPEN, BreakerState.CLOSED, trialAt, null, null));
	}

	@Test
	void anOpenBreakerShowsSinceWhenAndUntilWhen() {
		CircuitBreaker breaker = breaker(1);
		this.time.advance(Duration.ofSeconds(5));
		open(breaker);
		assertThat(breaker.snapshot().openedAt()).isEqualTo(START.plusSeconds(5));
		assertThat(breaker.snapshot().nextTrialAt()).isEqualTo(START.plusSeconds(35));
		assertThat(breaker.nextTrialAt()).isEqualTo(START.plusSeconds(35));
	}

	private CircuitBreaker breaker(int threshold) {
		return breaker(threshold(threshold));
	}

	private static BreakerSettings threshold(int failures) {
		BreakerSettings defaults = BreakerSettings.DEFAULTS;
		return new BreakerSettings(failures, null, defaults.windowSize(), null, defaults.openDuration(),
				defaults.maxOpenDuration(), defaults.trialTimeout());
	}

	private CircuitBreaker breaker(BreakerSettings settings) {
		return new CircuitBreaker("p", settings, this.time, this.transitions::add);
	}

	private static BreakerSettings withRate(Double rate, int window) {
		return new BreakerSettings(1000, rate, window, null, Duration.ofSeconds(30), Duration.ofMinutes(5),
				Duration.ofMinutes(2));
	}

	private static CircuitBreaker open(CircuitBreaker breaker) {
		fail(breaker, breaker.snapshot().failureThreshold());
		assertThat(breaker.state()).isEqualTo(BreakerState.OPEN);
		return breaker;
	}

	/** Waits out the open time and takes the trial. */
	private Permit halfOpen(CircuitBreaker breaker) {
		this.time.advance(openTime(breaker));
		Permit trial = permit(breaker);
		assertThat(trial.isTrial()).isTrue();
		return trial;
	}

	private Duration openTime(CircuitBreaker breaker) {
		Instant nextTrialAt = Objects.requireNonNull(breaker.nextTrialAt());
		return Duration.between(this.time.now(), nextTrialAt);
	}

	private static Permit permit(CircuitBreaker breaker) {
		@Nullable Permit permit = breaker.tryAcquire();
		return Objects.requireNonNull(permit, "refused");
	}

	private static void fail(CircuitBreaker breaker, int times) {
		for (int i = 0; i < times; i++) {
			report(breaker, true);
		}
	}

	private static void report(CircuitBreaker breaker, boolean fails) {
		report(permit(breaker), fails ? "failure" : "success");
	}

	private static void report(Permit permit, String outcome) {
		switch (outcome) {
			case "success" -> permit.success();
			case "failure" -> permit.failure(FailureKind.SERVER_ERROR, 500, 0);
			default -> permit.neutral();
		}
	}

}
