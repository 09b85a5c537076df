package dev.llmresilience.engine;

import java.util.List;

import dev.llmresilience.test.SettableTime;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whoever wants to lease and whoever wants to evict a key value's guards at the same
 * moment, it is as if one had come before the other.
 */
@Tag("lincheck")
public class KeyedProviderConcurrencyTests {

	private static final SettableTime TIME = new SettableTime();

	private static final Provider PROVIDER = new Providers(List.of(ProviderSettings.defaults("p")), TIME,
			GuardListener.NONE)
		.get("p");

	private final KeyedProvider keyed = new KeyedProvider(PROVIDER, TIME);

	/** Takes a lease and keeps it. */
	@Operation
	public boolean lease() {
		return this.keyed.lease();
	}

	@Operation
	public boolean evict() {
		return this.keyed.evict();
	}

	@Operation
	public boolean isIdle() {
		return this.keyed.isIdle();
	}

	@Test
	void isLinearizable() {
		// What came before would have settled it.
		new ModelCheckingOptions().actorsBefore(0)
			.actorsPerThread(2)
			.actorsAfter(1)
			.threads(2)
			.iterations(30)
			.invocationsPerIteration(200)
			.check(getClass());
	}

	@Test
	void whatIsLeasedIsNotEvictedUntilTheLastLeaseEnds() {
		assertThat(this.keyed.lease()).isTrue();
		assertThat(this.keyed.lease()).isTrue();
		this.keyed.release();
		assertThat(this.keyed.evict()).isFalse();
		this.keyed.release();
		assertThat(this.keyed.evict()).isTrue();
	}

	@Test
	void whatIsEvictedIsNeitherLeasedNorEvictedAgain() {
		assertThat(this.keyed.evict()).isTrue();
		assertThat(this.keyed.lease()).isFalse();
		assertThat(this.keyed.evict()).isFalse();
		assertThat(this.keyed.isIdle()).isFalse();
	}

}
