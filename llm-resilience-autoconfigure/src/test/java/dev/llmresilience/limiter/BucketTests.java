package dev.llmresilience.limiter;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class BucketTests {

	/** At each moment at which the next call is due, the rate has grown a little. */
	@ParameterizedTest
	@ValueSource(doubles = { 0.7, 3, 7.3, 19.33, 333.3 })
	void aRateThatGrowsByNextToNothingDoesNotPutOffTheCallThatIsDue(double rate) {
		Bucket bucket = new Bucket(rate, 1, 0, 0);
		assertThat(bucket.take(1, 0, false, 0)).isTrue();
		double grown = rate;
		long now = 0;
		for (int looks = 0; looks < 5; looks++) {
			now = bucket.freeAt(0, 1, 0, now);
			grown *= 1 + 1e-14;
			bucket.reshape(grown, 1, now);
			if (bucket.take(1, 0, true, now)) {
				return;
			}
		}
		assertThat(now).as("it is still not let out, by then").isNegative();
	}

}
