package dev.llmresilience.limiter;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class TokenScaleTests {

	private final TokenScale scale = new TokenScale(1000);

	/** Or a call would leave that has to wait. */
	@ParameterizedTest
	@ValueSource(longs = { -1, 0, 1, 999, 1000, 50_000, 10_000_000 })
	void theQuickBoundOfTheReserveIsNeverBelowIt(long inFlight) {
		for (int i = 0; i < 100; i++) {
			assertThat(this.scale.reserveAtMost(inFlight)).isGreaterThanOrEqualTo(this.scale.reserve(inFlight));
			this.scale.settle(1000, 100 + 37 * i);
		}
	}

}
