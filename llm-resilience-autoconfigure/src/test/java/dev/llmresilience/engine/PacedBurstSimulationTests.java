package dev.llmresilience.engine;

import java.time.Duration;

import dev.llmresilience.engine.Rush.Outcome;
import dev.llmresilience.engine.Rush.Outcomes;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.policy.RetryPolicy;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the limiter makes of the same rushes: the best that any client can do is the
 * provider's burst at once and the rest at its rate.
 */
class PacedBurstSimulationTests {

	private static final int SEEDS = 200;

	@Test
	void aHundredCallsAreAllServedAtTheFirstRequestAndAtTheProvidersOwnPace() {
		Rush rush = new Rush(100, 10, 20, Duration.ZERO, Duration.ofMillis(100), Duration.ofMillis(100));
		LimiterSettings limiter = LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(600.0, 20);
		Outcomes outcomes = rush.run("100 calls, limiter at 10/s, burst 20", SEEDS, RetryPolicy.DEFAULTS, limiter,
				true);
		assertThat(outcomes.outcomes()).allSatisfy((outcome) -> {
			assertThat(outcome.answered()).isEqualTo(100);
			assertThat(outcome.requests()).isEqualTo(100);
			assertThat(outcome.rejected()).isZero();
			assertThat(outcome.last()).isBetween(8.0, 8.0 * 1.03);
		});
	}

	@Test
	void callsThatComeOverTimeAndMostlyNeedNotQueueAreSeldomRejected() {
		Rush rush = new Rush(120, 10, 20, Duration.ofSeconds(10), Duration.ofMillis(45), Duration.ofMillis(45));
		LimiterSettings limiter = LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(600.0, 20);
		Outcomes outcomes = rush.run("120 calls over 10 s, limiter at 10/s, burst 20", SEEDS, RetryPolicy.DEFAULTS,
				limiter, true);
		assertThat(outcomes.min(Outcome::answered)).isEqualTo(120);
		assertThat(outcomes.median(Outcome::rejected)).isZero();
		assertThat(outcomes.max(Outcome::rejected)).isLessThanOrEqualTo(2);
	}

	@Test
	void twoHundredCallsNeedAtMostTwoRequestsMore() {
		Rush rush = new Rush(200, 20, 5, Duration.ZERO, Duration.ofMillis(100), Duration.ofMillis(100));
		LimiterSettings limiter = LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(1200.0, 5);
		Outcomes outcomes = rush.run("200 calls, limiter at 20/s, burst 5", SEEDS, RetryPolicy.DEFAULTS, limiter, true);
		assertThat(outcomes.min(Outcome::answered)).isEqualTo(200);
		assertThat(outcomes.max(Outcome::requests)).isLessThanOrEqualTo(202);
		// Where the first request takes longer than the network margin, one is rejected.
		assertThat(outcomes.median(Outcome::requests)).isEqualTo(200);
		assertThat(outcomes.median(Outcome::last)).isBetween(9.75, 9.75 * 1.03);
	}

	@Test
	void withNothingConfiguredTheLimiterLearnsTheRateFromTheRejections() {
		Rush rush = new Rush(100, 10, 20, Duration.ZERO, Duration.ofMillis(100), Duration.ofMillis(100));
		Outcomes outcomes = rush.run("100 calls, limiter that learns", 20, RetryPolicy.DEFAULTS,
				LimiterSettings.DEFAULTS, true);
		assertThat(outcomes.min(Outcome::answered)).isEqualTo(100);
		assertThat(outcomes.median(Outcome::last)).isLessThanOrEqualTo(8.5);
		assertThat(outcomes.median(Outcome::requests)).isLessThanOrEqualTo(192);
	}

}
