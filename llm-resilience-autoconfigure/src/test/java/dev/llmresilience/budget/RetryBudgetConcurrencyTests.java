package dev.llmresilience.budget;

import dev.llmresilience.test.SettableTime;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whatever threads do to a budget at the same moment, it could have happened one after
 * the other.
 */
@Tag("lincheck")
public class RetryBudgetConcurrencyTests {

	private final RetryBudget budget = new RetryBudget(2, 0.5, 0, new SettableTime());

	@Operation
	public boolean tryAcquire() {
		return this.budget.tryAcquire();
	}

	@Operation
	public void release() {
		this.budget.release();
	}

	@Operation
	public void onSuccess() {
		this.budget.onSuccess();
	}

	@Operation
	public double tokens() {
		return this.budget.tokens();
	}

	@Test
	void isLinearizable() {
		new StressOptions().iterations(30).invocationsPerIteration(1000).threads(3).check(getClass());
	}

}
