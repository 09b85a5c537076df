package dev.llmresilience.limiter;

import dev.llmresilience.limiter.Contention.Measured;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class ContentionTests {

	private static final long SECOND = 1_000_000_000;

	/** How fast a pace on trial doubles, in seconds. */
	private static final double DOUBLING = 3;

	private final Contention contention = new Contention(0);

	/** An episode in which a pace is rejected, and what is measured then. */
	private double rejected(double pace, double measured, double now) {
		this.contention.open((long) (now * SECOND));
		return heard(this.contention, pace, measured);
	}

	private static double heard(Contention contention, double pace, double measured) {
		return contention.heard(pace, measured, 1, new Measured(measured, measured, true), true);
	}

	/** The first rejection after a start, from which nothing can be measured. */
	private void startsWith(boolean moderate, double rate) {
		this.contention.open(0);
		this.contention.start(moderate);
		this.contention.heard(Double.POSITIVE_INFINITY, rate, 1, Measured.NONE, false);
	}

	private double grown(double pace, double seconds, double quiet) {
		return this.contention.grow(pace, 1, seconds, (long) (quiet * SECOND), DOUBLING);
	}

	private boolean holds(double now) {
		return this.contention.holds((long) (now * SECOND));
	}

	/** Begins at a moment with the sign of others, when a pace of 10 falls. */
	private void contendedFrom(double now) {
		rejected(12, 10, now - 10);
		rejected(10, 10, now);
	}

	@Test
	void aRejectionOfAPaceThatKeptToWhatWasMeasuredIsTheSignOfOthers() {
		assertThat(rejected(12, 10, 0)).as("above what was measured").isNegative();
		assertThat(holds(0)).isFalse();
		assertThat(rejected(10.1, 10, 8)).isEqualTo(0.92 * 10.1);
		assertThat(holds(8)).isTrue();
	}

	@Test
	void aPaceThatWasRaisedIsRejectedWithNobodyThere() {
		for (int i = 0; i < 5; i++) {
			assertThat(rejected(10.3, 10, 8 * i)).isNegative();
		}
		assertThat(holds(32)).isFalse();
	}

	@Test
	void whatAPauseInterruptedIsNoSign() {
		rejected(12, 10, 0);
		this.contention.open(8 * SECOND);
		assertThat(this.contention.heard(10, 10, 1, new Measured(10, 10, false), true)).isNegative();
		assertThat(holds(8)).isFalse();
	}

	@Test
	void aSlowPaceHearsTooLittleToTell() {
		for (int i = 0; i < 5; i++) {
			assertThat(rejected(1.9, 1.9, i)).isNegative();
		}
		assertThat(holds(5)).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "true, 1, true", "true, 0.9, false", "false, 5, false" })
	void afterAStartInModerateDemandOthersAreAssumed(boolean moderate, double measured, boolean assumed) {
		startsWith(moderate, 3);
		assertThat(holds(0)).as("nothing has been measured").isFalse();
		this.contention.open(4 * SECOND);
		assertThat(this.contention.heard(5, measured, 1, new Measured(measured, measured, false), false))
			.as("what was measured counts")
			.isNegative();
		assertThat(holds(33.9)).isEqualTo(assumed);
		assertThat(holds(34.1)).isFalse();
	}

	@Test
	void lateRejectionsOfAnEpisodeTakeNothingMore() {
		rejected(12, 10, 0);
		assertThat(rejected(10, 10, 8)).isEqualTo(0.92 * 10);
		assertThat(heard(this.contention, 10, 9.9)).isEqualTo(0.92 * 10);
	}

	@Test
	void rejectionsSoonAfterAFallAreForOthersToHeed() {
		contendedFrom(10);
		assertThat(rejected(9, 9, 12.9)).isEqualTo(9);
		assertThat(rejected(9, 9, 13.1)).isEqualTo(0.92 * 9);
	}

	@Test
	void aMinuteAfterTheFirstSignItIsLookedAtAfresh() {
		contendedFrom(10);
		for (int now = 30; now < 70; now += 20) {
			assertThat(rejected(9, 9, now)).isPositive();
		}
		assertThat(holds(69.9)).isTrue();
		assertThat(holds(70.1)).isFalse();
		assertThat(rejected(9, 9, 71)).as("and they are still there").isEqualTo(0.92 * 9);
	}

	@Test
	void aSignAfterAStartInModerateDemandMakesItAMinute() {
		startsWith(true, 3);
		rejected(5, 3, 4);
		rejected(3, 3, 12);
		assertThat(holds(63.9)).isTrue();
		assertThat(holds(64.1)).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "20, 6.6, 9.2, an equal part", "20, 6.4, 6.4, the rate has fallen",
			"12.9, 6.4, 10, it may be a trial of somebody else's" })
	void aRejectionTakesItsPartOfThePaceUnlessTheRateHasFallen(double now, double measured, double left, String why) {
		contendedFrom(10);
		assertThat(rejected(10, measured, now)).as(why).isCloseTo(left, within(1e-9));
		assertThat(holds(now)).isTrue();
	}

	@Test
	void aFallOfTheRateIsNoSignOfOthers() {
		rejected(12, 10, 0);
		assertThat(rejected(10, 6, 8)).isNegative();
		assertThat(holds(8)).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "50, 8", "10, 8", "5, 10", "2.5, 20" })
	void aTrialBeginsAfterEightSecondsOrFiftyCallsWithoutARejection(double pace, double seconds) {
		assertThat(grown(pace, 0.1, seconds - 0.1)).isCloseTo(pace, within(0.1));
		assertThat(grown(pace, DOUBLING, seconds + 0.1)).isEqualTo(2 * pace);
	}

	@ParameterizedTest
	@CsvSource({ "9, 8.55, mostly what had piled up", "11, 10.45, some was free",
			"11.8, -1, so much that the others are gone" })
	void whatATrialBringsIsNotKeptUnlessTheOthersAreGone(double accepted, double left, String why) {
		contendedFrom(10);
		double tried = grown(9, DOUBLING, 9);
		assertThat(tried).isEqualTo(18);
		assertThat(rejected(tried, accepted, 20)).as(why).isCloseTo(left, within(1e-9));
		assertThat(holds(20)).isEqualTo(left > 0);
	}

	@Test
	void aRejectionOfATrialIsNoSignOfOthers() {
		startsWith(true, 9);
		rejected(12, 9, 4);
		rejected(grown(9, DOUBLING, 9), 10, 16);
		assertThat(holds(33.9)).isTrue();
		assertThat(holds(34.1)).isFalse();
	}

	@Test
	void whatIsSetAnewIsNobodysRival() {
		contendedFrom(10);
		this.contention.forget(17 * SECOND);
		assertThat(holds(17)).isFalse();
	}

	/** Both are rejected whenever the limit of 10 is crossed. */
	@Test
	void sharesBecomeEqualWhoeverHadMoreBefore() {
		double more = 8;
		double less = 2;
		Contention other = new Contention(0);
		for (int now = 0; now < 600; now += 5) {
			while (more + less < 10) {
				more = grown(more, 0.1, 0);
				less = other.grow(less, 1, 0.1, 0, DOUBLING);
			}
			more = afterRejection(this.contention, more, now);
			less = afterRejection(other, less, now);
		}
		assertThat(more / less).isCloseTo(1, within(0.2));
	}

	private static double afterRejection(Contention contention, double pace, long now) {
		contention.open(now * SECOND);
		double left = heard(contention, pace, pace);
		return (left > 0) ? left : pace;
	}

	@ParameterizedTest
	@CsvSource({ "0.5, 0.002475", "2, 0.03", "4, 0.024", "100, 0.12" })
	void stepsAreLessThanInProportionAndNeverADoublingWithinSeventyCalls(double pace, double step) {
		assertThat(grown(pace, 1, 0) - pace).isCloseTo(step, within(1e-5));
	}

	@Test
	void aPaceGrowsToNoMoreThanTwiceHoweverLongNobodyLooked() {
		assertThat(grown(3, 1000, 0)).isEqualTo(6);
		assertThat(grown(10, 1000, 9)).isEqualTo(20);
	}

}
