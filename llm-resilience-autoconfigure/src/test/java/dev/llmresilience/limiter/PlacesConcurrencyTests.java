package dev.llmresilience.limiter;

import java.util.stream.Stream;

import dev.llmresilience.Priority;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whatever threads do with two places in flight at the same moment, each with a call of
 * its own, it could have happened one after the other.
 */
@Tag("lincheck")
public class PlacesConcurrencyTests {

	private final Places places = new Places(2);

	private final Permit[] permits = Stream.generate(() -> new Permit("owner", Priority.NORMAL, 0, false, 0))
		.limit(8)
		.toArray(Permit[]::new);

	@Operation
	public boolean take(@Param(gen = ThreadIdGen.class) int thread) {
		return this.places.take(this.permits[thread]);
	}

	@Operation
	public boolean giveBack(@Param(gen = ThreadIdGen.class) int thread) {
		return this.places.giveBack(this.permits[thread]);
	}

	@Operation
	public int taken() {
		return this.places.taken();
	}

	@Operation
	public boolean areFull() {
		return this.places.areFull();
	}

	@Test
	void isLinearizable() {
		new StressOptions().iterations(30).invocationsPerIteration(1000).threads(3).check(getClass());
	}

}
