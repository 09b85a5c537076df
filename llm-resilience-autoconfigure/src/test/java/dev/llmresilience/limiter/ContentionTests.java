package dev.llmresilience.limiter;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

class ContentionTests {

	private static final long SECOND = 1_000_000_000;

	private final Contention contention = new Contention(0);

	/** An episode in which a pace is rejected, and what is measured then. */
	private void rejected(double pace, double measured, long now) {
		this.contention.open(now * SECOND);
		this.contention.heard(pace, measured, 1, true, true);
	}

	private boolean holds(long now) {
		return this.contention.holds(now * SECOND);
	}

	@Test
	void twoRejectionsOfAPaceThatKeptToWhatWasMeasuredAreTheSignOfOthers() {
		rejected(12, 10, 0);
		rejected(10, 10, 8);
		assertThat(holds(8)).as("once may be chance").isFalse();
		rejected(10.1, 10, 16);
		assertThat(holds(16)).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "12, 20, it was raised, and that is what a probe costs", "10, 68, the other one is too long ago" })
	void otherRejectionsAreNoSign(double pace, long now, String why) {
		rejected(12, 10, 0);
		rejected(10, 10, 8);
		rejected(pace, 10, now);
		assertThat(holds(now)).as(why).isFalse();
	}

	@Test
	void whatWasNotMeasuredAfterPressureIsNoSign() {
		rejected(12, 10, 0);
		for (int i = 1; i < 5; i++) {
			this.contention.open(i * SECOND);
			this.contention.heard(10, 10, 1, false, true);
		}
		assertThat(holds(5)).isFalse();
	}

	@Test
	void aSlowPaceHearsTooLittleToTell() {
		for (int i = 0; i < 5; i++) {
			rejected(1.9, 1.9, i);
		}
		assertThat(holds(5)).isFalse();
	}

	@Test
	void lateRejectionsOfAnEpisodeAreNotFurtherSigns() {
		rejected(12, 10, 0);
		rejected(10, 10, 8);
		this.contention.heard(10, 9.9, 1, true, true);
		this.contention.heard(10, 9.8, 1, true, true);
		assertThat(holds(9)).isFalse();
	}

	@Test
	void othersAreForgottenAMinuteAfterTheLastSign() {
		rejected(12, 10, 0);
		rejected(10, 10, 8);
		rejected(10, 10, 16);
		rejected(9, 9, 30);
		assertThat(holds(89)).isTrue();
		rejected(11, 10, 89);
		assertThat(holds(90)).as("a pace above what was measured is rejected with nobody there").isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "10, true", "2.5, true", "2.4, false" })
	void aRejectionTakesItsPartOfThePaceUnlessTheRateHasFallen(double measured, boolean governs) {
		rejected(12, 10, 0);
		rejected(10, 10, 8);
		rejected(10, 10, 16);
		assertThat(this.contention.governs()).as("the episode that told of others").isFalse();
		rejected(10, measured, 20);
		assertThat(this.contention.governs()).isEqualTo(governs);
		assertThat(holds(21)).isEqualTo(governs);
	}

	@Test
	void whatIsSetAnewIsNobodysRival() {
		rejected(12, 10, 0);
		rejected(10, 10, 8);
		rejected(10, 10, 16);
		this.contention.forget(17 * SECOND);
		assertThat(holds(17)).isFalse();
	}

	@Test
	void equalStepsAndEqualPartsMakeSharesEqual() {
		double more = 8;
		double less = 3;
		for (int i = 0; i < 20; i++) {
			for (int step = 0; step < 200 && more + less < 11; step++) {
				more = this.contention.raise(more, 0.1);
				less = this.contention.raise(less, 0.1);
			}
			more = this.contention.lower(more);
			less = this.contention.lower(less);
		}
		assertThat(more / less).isCloseTo(1, within(0.05));
	}

	@ParameterizedTest
	@CsvSource({ "50, 7.9, true", "50, 8.1, false", "2.5, 9.9, true", "2.5, 10.1, false" })
	void itIsPatientForEightSecondsOrTwentyFiveCalls(double pace, double quiet, boolean patient) {
		assertThat(this.contention.isPatient(pace, (long) (quiet * SECOND))).isEqualTo(patient);
	}

	@Test
	void aSlowPaceGrowsInProportion() {
		assertThat(this.contention.raise(2, 1)).isCloseTo(2 + 4 * Math.log(2) / 25, within(1e-9));
		assertThat(this.contention.raise(200, 1)).isEqualTo(200.25);
		assertThat(this.contention.raise(3, 100)).as("however long nobody looked").isEqualTo(6);
	}

}
