package dev.llmresilience.limiter;

import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whatever threads take from a bucket and put back at the same moment, it could have
 * happened one after the other.
 */
@Tag("lincheck")
public class BucketConcurrencyTests {

	private final Bucket bucket = new Bucket(1, 3, 0, 0);

	@Operation
	public boolean takeOne() {
		return this.bucket.take(1, 0, false, 0);
	}

	@Operation
	public boolean takeTwo() {
		return this.bucket.take(2, 0, false, 0);
	}

	@Operation
	public void putOneBack() {
		this.bucket.settle(1, 0);
	}

	@Operation
	public void useOneMore() {
		this.bucket.settle(-1, 0);
	}

	@Operation
	public double level() {
		return this.bucket.level(0);
	}

	@Test
	void isLinearizable() {
		new StressOptions().iterations(30).invocationsPerIteration(1000).threads(3).check(getClass());
	}

}
