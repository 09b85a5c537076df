package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.policy.Jitter;
import dev.llmresilience.policy.RetryPolicy;
import dev.llmresilience.test.SimulatedProvider;
import dev.llmresilience.test.VirtualTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static dev.llmresilience.engine.Simulation.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * What retries buy against failures at random, and what they cost; and the waits of the
 * two ladders, by hand.
 */
class CoinFlipTests {

	private static final int SEEDS = 200;

	private static final int CALLS = 100;

	/** The quantile of the normal distribution for 95 %. */
	private static final double Z = 1.96;

	/** 1 - 0.5^tries of the customers are served. */
	@ParameterizedTest
	@CsvSource({ "1, 50", "3, 87.5", "5, 96.9" })
	void triesServeAsManyAsProbabilitySays(int tries, double percent) {
		double[] served = IntStream.range(0, SEEDS).mapToDouble((seed) -> flips(seed, tries).served).toArray();
		double mean = IntStream.range(0, SEEDS).mapToDouble((seed) -> served[seed]).average().orElseThrow();
		long inside = IntStream.range(0, SEEDS).filter((seed) -> isWithinWilson(served[seed], percent / 100)).count();
		System.out.printf("%d tries: %.1f of 100 served (%.1f expected), %d of %d seeds within their interval%n", tries,
				mean, percent, inside, SEEDS);
		assertThat(mean).isCloseTo(percent, within(1.0));
		assertThat(inside).isGreaterThanOrEqualTo((long) (0.9 * SEEDS));
	}

	@Test
	void fiveTriesCostTwoCallsACustomer() {
		double calls = IntStream.range(0, SEEDS).mapToDouble((seed) -> flips(seed, 5).requests).average().orElseThrow()
				/ CALLS;
		System.out.printf("5 tries: %.2f calls a customer%n", calls);
		assertThat(calls).isBetween(1.9, 2.1);
	}

	private static boolean isWithinWilson(double served, double expected) {
		double p = served / CALLS;
		double centre = (p + Z * Z / (2 * CALLS)) / (1 + Z * Z / CALLS);
		double half = Z / (1 + Z * Z / CALLS) * Math.sqrt(p * (1 - p) / CALLS + Z * Z / (4.0 * CALLS * CALLS));
		return expected >= centre - half && expected <= centre + half;
	}

	private record Flips(int served, int requests) {
	}

	/** Each attempt of each call fails with 500 as often as not. */
	private static Flips flips(int seed, int tries) {
		SplittableRandom coin = new SplittableRandom(seed);
		int[] requests = new int[1];
		try (Simulation simulation = new Simulation()) {
			simulation.with("p", RetryPolicy.DEFAULTS.withAttempts(tries, 5),
					LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null);
			List<CompletableFuture<String>> calls = new ArrayList<>();
			for (int i = 0; i < CALLS; i++) {
				calls.add(simulation.future("p", () -> {
					requests[0]++;
					return coin.nextBoolean() ? CompletableFuture.completedFuture("answer")
							: CompletableFuture.failedFuture(status(500));
				}));
			}
			simulation.time.runFor(Duration.ofMinutes(10));
			assertThat(calls).allMatch(CompletableFuture::isDone);
			int served = (int) calls.stream().filter((call) -> !call.isCompletedExceptionally()).count();
			return new Flips(served, requests[0]);
		}
	}

	/** Base 100 ms, proportional jitter of a tenth, the hint spread by up to a second. */
	private static final RetryPolicy WORKED = RetryPolicy.DEFAULTS
		.withBackoff(Jitter.PROPORTIONAL, Duration.ofMillis(100), Duration.ofSeconds(30))
		.withRetryAfter(Duration.ofSeconds(1), Duration.ofMinutes(2));

	@Test
	void aResetAndThenARateLimitCostOneRetryOnEachLadder() {
		for (int seed = 0; seed < SEEDS; seed++) {
			Duration took = timeline(seed, status(500),
					new SimulatedProvider.StatusException(429, Duration.ofSeconds(2)));
			assertThat(took).isBetween(Duration.ofMillis(2090), Duration.ofMillis(3300));
		}
	}

	@Test
	void twoResetsCostADoublingBackoff() {
		for (int seed = 0; seed < SEEDS; seed++) {
			assertThat(timeline(seed, status(500), status(500))).isBetween(Duration.ofMillis(270),
					Duration.ofMillis(330));
		}
	}

	/** Two failures, then an answer; one retry on a ladder is enough. */
	private static Duration timeline(int seed, Throwable... failures) {
		try (VirtualTime time = new VirtualTime(seed)) {
			List<ProviderSettings> settings = List.of(new ProviderSettings("p", ProviderSettings.defaults("p").type(),
					"p", List.of(), WORKED.withAttempts(3, 1), CallSettings.DEFAULTS,
					LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), null, null, null,
					ProviderSettings.DEFAULT_QUOTA_COOL_DOWN));
			Provider provider = new Providers(settings, time, GuardListener.NONE).get("p");
			int[] attempt = new int[1];
			Duration[] ended = new Duration[1];
			CompletableFuture<Void> unused = new FutureDriver(new CallEngine(time, SimulatedProvider.classifier(true)))
				.call(CallPlan.of(provider, provider.options()), null, 0, () -> {
					int number = attempt[0]++;
					return (number < failures.length) ? CompletableFuture.<String>failedFuture(failures[number])
							: CompletableFuture.completedFuture("answer");
				}, null)
				.thenAccept((answer) -> ended[0] = time.elapsed());
			time.runFor(Duration.ofMinutes(1));
			assertThat(attempt[0]).isEqualTo(3);
			return ended[0];
		}
	}

}
