package dev.llmresilience.engine;

import java.time.Duration;

import dev.llmresilience.engine.Rush.Outcome;
import dev.llmresilience.engine.Rush.Outcomes;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.policy.Jitter;
import dev.llmresilience.policy.RetryPolicy;
import dev.llmresilience.test.SimulatedProvider;
import dev.llmresilience.test.SimulatedProvider.StatusException;
import dev.llmresilience.time.TimeSource;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

/**
 * What retrying alone makes of a rush. The figures are those that were measured and
 * published for the same rushes: "Exponential backoff with jitter: 64 of 100 LLM calls
 * still failed" (tensorust.com, 2026) for the hundred calls, and chapter "Retries and
 * jitter: when trying again makes it worse" of a course on LLM engineering for the two
 * hundred.
 */
class RetryStormSimulationTests {

	private static final int SEEDS = 200;

	private static final int RUSH_SEEDS = 50;

	/** The provider is in the callers' own process: there is no way to go. */
	private static final Rush HUNDRED = new Rush(100, 10, 20, Duration.ZERO, Duration.ZERO, Duration.ZERO);

	/** The waves of these callers were seen to be 0.37 s wide. */
	private static final Rush TWO_HUNDRED = new Rush(200, 20, 5, Duration.ofMillis(370), Duration.ZERO, Duration.ZERO);

	private static final Duration BASE = Duration.ofMillis(500);

	private static final Duration CAP = Duration.ofSeconds(30);

	@Test
	void withoutRetryOnlyTheBurstIsAnswered() {
		Outcomes outcomes = hundred("100 calls, no retry", tries(1, Jitter.FULL), false);
		assertThat(outcomes.outcomes()).allSatisfy((outcome) -> {
			assertThat(outcome.answered()).isEqualTo(20);
			assertThat(outcome.requests()).isEqualTo(100);
		});
	}

	@Test
	void threeTriesWithTenPercentOfJitterLeave64CallsWithoutAnAnswer() {
		Outcomes outcomes = hundred("100 calls, 3 tries, +-10 %", tries(3, Jitter.PROPORTIONAL), false);
		assertThat(outcomes.median(Outcome::answered)).isEqualTo(36);
		assertThat(outcomes.outcomes()).allSatisfy((outcome) -> assertThat(outcome.answered()).isBetween(35, 36));
		assertThat(outcomes.outcomes()).filteredOn((outcome) -> outcome.answered() == 35).hasSizeLessThan(SEEDS / 10);
	}

	@Test
	void twoRetriesThatObeyRetryAfterAsSdksDoAnswer40() {
		// With a Retry-After of a second, the backoff of an SDK never decides.
		RetryPolicy policy = RetryPolicy.DEFAULTS.withAttempts(3, 2)
			.withBackoff(Jitter.EQUAL, BASE, Duration.ofSeconds(8))
			.withRetryAfter(Duration.ZERO, Duration.ofMinutes(1));
		Outcomes outcomes = hundred("100 calls, SDK: 2 retries, obeys Retry-After", policy, true);
		assertThat(outcomes.outcomes()).allSatisfy((outcome) -> assertThat(outcome.answered()).isEqualTo(40));
	}

	@Test
	void eightTriesWithTenPercentOfJitterComeInWaves() {
		Outcomes outcomes = hundred("100 calls, 8 tries, +-10 %", tries(8, Jitter.PROPORTIONAL), false);
		assertThat(outcomes.min(Outcome::answered)).isEqualTo(100);
		assertThat(outcomes.median(Outcome::p95)).isCloseTo(16.1, withinPercentage(10));
		assertThat(outcomes.median(Outcome::requests)).isCloseTo(375, withinPercentage(10));
		assertThat(outcomes.median(Outcome::last)).isCloseTo(16.6, withinPercentage(5));
	}

	@Test
	void eightTriesWithFullJitterFinishMostCallsSoonerButSendMoreRequests() {
		Outcomes outcomes = hundred("100 calls, 8 tries, full jitter", tries(8, Jitter.FULL), false);
		assertThat(outcomes.median(Outcome::answered)).isEqualTo(100);
		// Chance can lose eight draws in a row, once in tens of thousands of calls.
		assertThat(outcomes.outcomes()).filteredOn((outcome) -> outcome.answered() < 100)
			.hasSizeLessThanOrEqualTo(SEEDS / 100);
		assertThat(outcomes.median(Outcome::p95)).isCloseTo(10.5, withinPercentage(10));
		assertThat(outcomes.median(Outcome::requests)).isCloseTo(408, withinPercentage(10));
		assertThat(outcomes.median(Outcome::last)).isCloseTo(17.1, withinPercentage(25));
	}

	@Test
	void obeyingRetryAfterNeedsFewerRequestsThanBackoffAndOurFormulaIsNoWorse() {
		Outcomes added = HUNDRED.run("100 calls, 8 tries, full jitter + Retry-After, added", SEEDS,
				RetryStormSimulationTests::addedAsPublished);
		assertThat(added.min(Outcome::answered)).isEqualTo(100);
		assertThat(added.median(Outcome::p95)).isCloseTo(9.1, withinPercentage(10));
		assertThat(added.median(Outcome::requests)).isCloseTo(313, withinPercentage(10));
		assertThat(added.median(Outcome::last)).isBetween(9.3, 14.6);

		Outcomes ours = hundred("100 calls, 8 tries, full jitter, Retry-After as floor", tries(8, Jitter.FULL), true);
		assertThat(ours.min(Outcome::answered)).isEqualTo(100);
		assertThat(ours.median(Outcome::p95)).isLessThanOrEqualTo(added.median(Outcome::p95));
		assertThat(ours.median(Outcome::requests)).isLessThanOrEqualTo(added.median(Outcome::requests));
		assertThat(ours.median(Outcome::last)).isLessThanOrEqualTo(added.median(Outcome::last));
	}

	@Test
	void withoutJitterTwoHundredCallersComeBackTogetherForMinutes() {
		Outcomes outcomes = rush("200 calls, 31 tries, no jitter", Jitter.NONE, Duration.ZERO, false);
		assertThat(outcomes.median(Outcome::last)).isBetween(140.0, 200.0);
	}

	@Test
	void fullJitterSpreadsTwoHundredCallers() {
		Outcomes outcomes = rush("200 calls, 31 tries, full jitter", Jitter.FULL, Duration.ZERO, false);
		assertThat(outcomes.median(Outcome::last)).isBetween(12.0, 15.0);
	}

	@Test
	void obeyingRetryAfterWithoutJitterDoesNotBreakTheWaves() {
		Outcomes outcomes = rush("200 calls, 31 tries, Retry-After, no jitter", Jitter.NONE, Duration.ZERO, true);
		assertThat(outcomes.median(Outcome::last)).isGreaterThan(100);
	}

	@Test
	void retryAfterAsFloorWithJitterSpreadsTwoHundredCallers() {
		Outcomes outcomes = rush("200 calls, 31 tries, Retry-After as floor plus jitter", Jitter.FULL,
				Duration.ofSeconds(1), true);
		assertThat(outcomes.median(Outcome::last)).isBetween(14.0, 20.0);
	}

	private static RetryPolicy tries(int tries, Jitter jitter) {
		return RetryPolicy.DEFAULTS.withAttempts(Math.max(2, tries), tries - 1).withBackoff(jitter, BASE, CAP);
	}

	private static Outcomes hundred(String title, RetryPolicy policy, boolean readsRetryAfter) {
		return HUNDRED.run(title, SEEDS, policy, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), readsRetryAfter);
	}

	private static Outcomes rush(String title, Jitter jitter, Duration spread, boolean readsRetryAfter) {
		RetryPolicy policy = RetryPolicy.DEFAULTS.withAttempts(31, 30)
			.withBackoff(jitter, BASE, Duration.ofSeconds(8))
			.withRetryAfter(spread, Duration.ofMinutes(2));
		return TWO_HUNDRED.run(title, RUSH_SEEDS, policy, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF),
				readsRetryAfter);
	}

	/** The loop of the article, which adds the whole hint to the backoff. */
	private static BlockingDriver.Body<String> addedAsPublished(TimeSource time, SimulatedProvider provider) {
		return () -> {
			for (int attempt = 1;; attempt++) {
				try {
					return provider.request();
				}
				catch (StatusException ex) {
					Duration retryAfter = ex.retryAfter();
					if (attempt == 8 || retryAfter == null) {
						throw ex;
					}
					double ceiling = Math.min((double) CAP.toNanos(), BASE.toNanos() * Math.pow(2, attempt - 1.0));
					time.waiter().await(retryAfter.toNanos() + (long) (ceiling * time.random()));
				}
			}
		};
	}

}
