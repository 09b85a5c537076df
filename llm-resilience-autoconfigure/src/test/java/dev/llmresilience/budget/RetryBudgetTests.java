package dev.llmresilience.budget;

import java.time.Duration;

import dev.llmresilience.test.SettableTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

class RetryBudgetTests {

	private final SettableTime time = new SettableTime();

	@Test
	void startsFullAndGivesOutWhatItHolds() {
		RetryBudget budget = new RetryBudget(10, 0.1, 0, this.time);
		assertThat(taken(budget)).isEqualTo(10);
		assertThat(budget.tokens()).isZero();
	}

	@Test
	void tenSuccessesOfATenthGiveBackExactlyOneToken() {
		RetryBudget budget = new RetryBudget(10, 0.1, 0, this.time);
		taken(budget);
		for (int i = 0; i < 9; i++) {
			budget.onSuccess();
		}
		assertThat(budget.tryAcquire()).isFalse();
		budget.onSuccess();
		assertThat(budget.tryAcquire()).isTrue();
		assertThat(budget.tryAcquire()).isFalse();
	}

	@Test
	void aRefusedRetryTakesNothing() {
		RetryBudget budget = new RetryBudget(1, 0.5, 0, this.time);
		taken(budget);
		budget.onSuccess();
		assertThat(budget.tryAcquire()).isFalse();
		assertThat(budget.tokens()).isEqualTo(0.5);
	}

	@Test
	void keepsWhatItHoldsWhenItsSizeChangesAsFarAsThatFits() {
		RetryBudget budget = new RetryBudget(10, 0, 0, this.time);
		assertThat(budget.tryAcquire()).isTrue();
		budget.configure(20, 0, 0);
		assertThat(budget.tokens()).isEqualTo(9);
		assertThat(budget.capacity()).isEqualTo(20);
		budget.configure(5, 0, 0);
		assertThat(budget.tokens()).isEqualTo(5);
	}

	@Test
	void refillsAsItIsToFromThenOn() {
		RetryBudget budget = new RetryBudget(10, 0.1, 0, this.time);
		taken(budget);
		this.time.advance(Duration.ofMinutes(5));
		budget.configure(10, 0.5, 2);
		assertThat(budget.tokens()).isZero();
		budget.onSuccess();
		assertThat(budget.tokens()).isEqualTo(0.5);
		this.time.advance(Duration.ofMinutes(1));
		assertThat(budget.tokens()).isCloseTo(2.5, within(0.001));
		assertThatIllegalArgumentException().isThrownBy(() -> budget.configure(0.5, 0, 0));
		assertThat(budget.capacity()).isEqualTo(10);
	}

	@Test
	void neverHoldsMoreThanItsCapacity() {
		RetryBudget budget = new RetryBudget(10, 0.3, 60, this.time);
		budget.onSuccess();
		budget.release();
		this.time.advance(Duration.ofDays(1));
		assertThat(budget.tokens()).isEqualTo(10);
		assertThat(budget.tryAcquire()).isTrue();
		budget.release();
		budget.release();
		assertThat(budget.tokens()).isEqualTo(10);
	}

	@Test
	void aReleasedTokenCanBeTakenAgain() {
		RetryBudget budget = new RetryBudget(1, 0, 0, this.time);
		assertThat(budget.tryAcquire()).isTrue();
		budget.release();
		assertThat(budget.tryAcquire()).isTrue();
	}

	@Test
	void tricklesWithTime() {
		RetryBudget budget = new RetryBudget(10, 0, 1, this.time);
		taken(budget);
		this.time.advance(Duration.ofSeconds(59));
		assertThat(budget.tryAcquire()).isFalse();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(budget.tryAcquire()).isTrue();
	}

	@Test
	void tricklesTheSameHoweverOftenItIsAsked() {
		RetryBudget budget = new RetryBudget(100, 0, 7, this.time);
		taken(budget);
		for (int i = 0; i < 60_000; i++) {
			this.time.advance(Duration.ofMillis(10));
			assertThat(budget.tokens()).isLessThanOrEqualTo(100);
		}
		assertThat(budget.tokens()).isCloseTo(70, within(0.2));
	}

	@ParameterizedTest
	@CsvSource({ "0.5, 0.1, 1", "0, 0.1, 1", "NaN, 0.1, 1", "10, -0.1, 1", "10, NaN, 1", "10, 0.1, -1" })
	void refusesNumbersOutOfRange(double capacity, double perSuccess, double perMinute) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new RetryBudget(capacity, perSuccess, perMinute, this.time))
			.withMessageContaining("capacity >= 1");
	}

	private static int taken(RetryBudget budget) {
		int taken = 0;
		while (budget.tryAcquire()) {
			taken++;
		}
		return taken;
	}

}
