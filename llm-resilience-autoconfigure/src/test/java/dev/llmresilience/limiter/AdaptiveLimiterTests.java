package dev.llmresilience.limiter;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import java.util.stream.LongStream;

import dev.llmresilience.Priority;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.limiter.LimiterSettings.TokenLimits;
import dev.llmresilience.limiter.World.Call;
import dev.llmresilience.limiter.World.Supply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static dev.llmresilience.limiter.World.AT_ONCE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the limiter learns, with a network delay of 0 to 100 ms each way unless said
 * otherwise: the median of 20 seeds, and the worst.
 */
class AdaptiveLimiterTests {

	private static final double UNKNOWN = 0;

	private static final double MILLISECOND = 0.001;

	@Test
	void aHundredCallsAtOnceWithNothingConfigured() {
		Figures figures = run("herd, nothing configured", List.of("last s", "requests", "lost"), (seed) -> {
			World world = new World(seed, 20, 10);
			world.feed(world.limiter(UNKNOWN), 100, AT_ONCE);
			world.run(60);
			return new double[] { world.lastAnswer(), world.sends.size(), world.lost() };
		});
		assertThat(figures.worst(2)).isZero();
		assertThat(figures.median(0)).isLessThanOrEqualTo(8.5);
		assertThat(figures.worst(0)).isLessThanOrEqualTo(9.4);
		assertThat(figures.median(1)).isLessThanOrEqualTo(192);
	}

	@ParameterizedTest
	@ValueSource(doubles = { MILLISECOND, 1 })
	void aHundredCallsAtOnceWithRateHeaders(double unit) {
		Figures figures = run("herd, headers to " + unit + " s", List.of("last s", "requests", "lost"), (seed) -> {
			World world = new World(seed, 20, 10).headers(unit);
			world.feed(world.limiter(UNKNOWN), 100, AT_ONCE);
			world.run(60);
			return new double[] { world.lastAnswer(), world.sends.size(), world.lost() };
		});
		assertThat(figures.worst(2)).isZero();
		assertThat(figures.median(0)).isLessThanOrEqualTo((unit == 1) ? 8.5 : 8.3);
		assertThat(figures.median(1)).isLessThanOrEqualTo(184);
	}

	@Test
	void aConfiguredRateHoldsWhereHeadersAreTooRoughToContradictIt() {
		Figures figures = run("herd, configured, headers to 2 s", List.of("last s", "requests", "lost"), (seed) -> {
			World world = new World(seed, 20, 10).headers(2);
			world.feed(world.limiter(LimiterSettings.DEFAULTS.withRate(600.0, 20)), 100, AT_ONCE);
			world.run(60);
			return new double[] { world.lastAnswer(), world.sends.size(), world.lost() };
		});
		assertThat(figures.worst(2)).isZero();
		assertThat(figures.worst(0)).isLessThanOrEqualTo(8.4);
		assertThat(figures.median(1)).isEqualTo(100);
	}

	@Test
	void aProviderThatFallsFrom10To4ASecond() {
		Figures figures = run("falls from 10 to 4/s", List.of("rejected %", "unused %", "lost"), (seed) -> {
			World world = new World(seed, 10, 10);
			world.rateFrom(10, 4);
			world.feed(world.limiter(10.0), 300, AT_ONCE);
			world.run(120);
			double until = world.lastAccepted();
			double could = 10 + 10 * Math.min(10, until) + 4 * Math.max(0, until - 10);
			return new double[] { world.rejectedPercent(), 100 - 100 * 300 / could, world.lost() };
		});
		assertThat(figures.worst(2)).isZero();
		assertThat(figures.median(0)).isLessThanOrEqualTo(3.2);
		assertThat(figures.median(1)).isLessThanOrEqualTo(1.5);
	}

	@ParameterizedTest
	@CsvSource({ "0, 12", MILLISECOND + ", 0.5" })
	void aProviderThatRisesFrom4To20ASecond(double headers, double target) {
		Figures figures = run("rises from 4 to 20/s, headers to " + headers + " s", List.of("s to 90 %"), (seed) -> {
			double at = 30 + 0.4 * (seed % 20);
			World world = new World(seed, 20, 4).headers(headers);
			world.rateFrom(at, 20);
			world.feed(world.limiter(UNKNOWN), (int) ((at + 60) * 30), 30);
			world.run(at + 60);
			List<Double> after = world.accepted.stream().filter((t) -> t > at).toList();
			for (int i = 0; i < after.size(); i++) {
				double from = after.get(i);
				if (after.stream().filter((t) -> t >= from && t < from + 2).count() >= 36) {
					return new double[] { from - at };
				}
			}
			return new double[] { 60 };
		});
		assertThat(figures.median(0)).isLessThanOrEqualTo(target);
	}

	@Test
	void aKeyThatAnotherClientSharesForAWhile() {
		Figures figures = run("shared key", List.of("rejected %", "unused %", "lost"), (seed) -> {
			World world = new World(seed, 20, 10);
			world.other(5, 10, 40);
			world.feed(world.limiter(UNKNOWN), 720, 12);
			world.run(60);
			double used = 100.0 * world.accepted.size() / Math.min(720, 20 + 600 - world.taken);
			world.run(60);
			return new double[] { world.rejectedPercent(), 100 - used, world.lost() };
		});
		assertThat(figures.worst(2)).isZero();
		assertThat(figures.median(0)).isLessThanOrEqualTo(3.5);
		assertThat(figures.median(1)).isLessThanOrEqualTo(5);
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 4 })
	void limitersThatKnowNothingOfEachOther(int limiters) {
		Figures figures = run(limiters + " limiters on one key", List.of("rejected %", "unused %", "spread %"),
				(seed) -> {
					World world = new World(seed, 20, 10);
					for (int i = 0; i < limiters; i++) {
						world.feed(world.limiter(UNKNOWN), 720, 12);
					}
					world.run(60);
					double rejected = world.rejectedPercent();
					double used = 100.0 * world.accepted.size() / 620;
					double[] shares = world.calls.stream()
						.map((call) -> call.limiter)
						.distinct()
						.mapToDouble((limiter) -> world.calls.stream()
							.filter((call) -> call.limiter == limiter && call.served >= 30 && call.served < 60)
							.count())
						.sorted()
						.toArray();
					double mean = Arrays.stream(shares).average().orElse(0);
					return new double[] { rejected, 100 - used, 100 * (shares[limiters - 1] - shares[0]) / mean };
				});
		assertThat(figures.median(0)).isLessThanOrEqualTo(6);
		assertThat(figures.median(1)).isLessThanOrEqualTo(7);
		assertThat(figures.median(2)).isLessThanOrEqualTo(25);
	}

	@ParameterizedTest
	@CsvSource({ "1, 0", "0.67, 0", "1.5, 0", "1, 10", "0.67, 10" })
	void tokensWhoseEstimatesAreWrong(double bias, double service) {
		Figures figures = run("tokens, estimates x " + bias + ", answers up to " + service + " s",
				List.of("rejected %", "unused %", "lost"), (seed) -> {
					World world = new World(seed).network(0.1, service);
					Supply supply = world.limit(Dimension.TOKENS, 400_000, 400_000 / 60.0);
					RateLimiter limiter = world
						.limiter(LimiterSettings.DEFAULTS.withTokens(new TokenLimits(400_000.0, null, null, 2000L)));
					tokenCalls(world, limiter, seed, bias);
					world.run(900);
					return new double[] { world.rejectedPercent(), 100 - supply.usedPercent(), world.lost() };
				});
		assertThat(figures.worst(2)).isZero();
		assertThat(figures.median(0)).isLessThanOrEqualTo(1);
		assertThat(figures.median(1)).isLessThanOrEqualTo(1);
	}

	private static void tokenCalls(World world, RateLimiter limiter, long seed, double bias) {
		SplittableRandom random = new SplittableRandom(seed + 1000);
		for (int i = 0; i < 1000; i++) {
			long tokens = random.nextLong(100, 4001);
			long estimate = Math.round(tokens * bias * random.nextDouble(0.5, 1.5));
			world.call(limiter, 0, Priority.NORMAL, estimate, tokens);
		}
	}

	/** First calls are scarce, then tokens are: short calls, then long ones. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void requestsAndTokensAtOnce(boolean configured) {
		Figures figures = run("requests and tokens, configured " + configured,
				List.of("rejected %", "requests unused %", "tokens unused %", "lost"), (seed) -> {
					World world = new World(seed);
					Supply requests = world.limit(Dimension.REQUESTS, 20, 10);
					Supply tokens = world.limit(Dimension.TOKENS, 400_000, 400_000 / 60.0);
					LimiterSettings settings = LimiterSettings.DEFAULTS
						.withTokens(new TokenLimits(configured ? 400_000.0 : null, null, null, 1000L));
					RateLimiter limiter = world.headers(configured ? 0 : MILLISECOND)
						.limiter(configured ? settings.withRate(600.0, 20) : settings);
					SplittableRandom random = new SplittableRandom(seed + 1000);
					double[] end = new double[4];
					for (int i = 0; i < 400; i++) {
						long used = random.nextLong(50, 150);
						world.call(limiter, 0, Priority.NORMAL, Math.round(used * random.nextDouble(0.5, 1.5)), used);
					}
					world.at(60, () -> {
						end[1] = 100 - 100 * requests.served / (20 + 10 * firstEnd(world));
						double before = tokens.served;
						for (int i = 0; i < 600; i++) {
							long used = random.nextLong(500, 3500);
							world.call(limiter, 60, Priority.NORMAL, Math.round(used * random.nextDouble(0.5, 1.5)),
									used);
						}
						world.at(600, () -> end[2] = 100 - 100 * (tokens.served - before)
								/ (400_000 + 400_000 / 60.0 * (world.lastAccepted() - 60)));
					});
					world.run(700);
					// Of calls that leave before anything is known, all beyond the burst.
					double unknowable = configured ? 0 : 380;
					end[0] = 100 * (world.rejections - unknowable) / (world.sends.size() - unknowable);
					end[3] = world.lost();
					return end;
				});
		assertThat(figures.worst(3)).isZero();
		assertThat(figures.median(0)).isLessThanOrEqualTo(3);
		assertThat(figures.median(1)).isLessThanOrEqualTo(3);
		assertThat(figures.median(2)).isLessThanOrEqualTo(3);
	}

	private static double firstEnd(World world) {
		return world.accepted.get(399);
	}

	@Test
	void oneStray429DoesNotFreezeHealthyTraffic() {
		Figures figures = run("one stray 429 at 50/s", List.of("s until back", "longest wait s", "idle burst s"),
				(seed) -> {
					World world = new World(seed, 1e6, 1e6);
					RateLimiter limiter = world.limiter(UNKNOWN);
					world.stray(20);
					world.feed(limiter, 2000, 50);
					for (int i = 0; i < 50; i++) {
						world.call(limiter, 100);
					}
					world.run(130);
					double back = 20;
					for (double t = 20; t < 38.5; t += 0.05) {
						double from = t;
						if (world.sends.stream().filter((s) -> s >= from && s < from + 1).count() < 47.5) {
							back = t + 1;
						}
					}
					return new double[] { back - 20, longestWait(world.calls),
							longestWait(world.calls.subList(2000, 2050)) };
				});
		assertThat(figures.median(0)).isLessThanOrEqualTo(3);
		assertThat(figures.worst(2)).isLessThanOrEqualTo(2);
	}

	@Test
	void oneStray429AtACallAMinute() {
		Figures figures = run("one stray 429 at 1 a minute", List.of("longest wait s"), (seed) -> {
			World world = new World(seed, 1e6, 1e6);
			RateLimiter limiter = world.limiter(UNKNOWN);
			world.stray(20);
			world.feed(limiter, 10, 1 / 60.0);
			world.run(700);
			return new double[] { world.calls.stream().mapToDouble((call) -> call.done - call.born).max().orElse(0) };
		});
		assertThat(figures.worst(0)).isLessThanOrEqualTo(2);
	}

	private static double longestWait(List<Call> calls) {
		return calls.stream().mapToDouble((call) -> call.left - call.born).max().orElse(0);
	}

	private static Figures run(String name, List<String> names, LongFunction<double[]> scenario) {
		List<double[]> runs = new ArrayList<>(LongStream.range(2000, 2020).mapToObj(scenario).toList());
		Figures figures = new Figures(runs);
		StringBuilder line = new StringBuilder(String.format("%-28s", name));
		for (int i = 0; i < names.size(); i++) {
			line.append(String.format(" %s %.2f (worst %.2f)", names.get(i), figures.median(i), figures.worst(i)));
		}
		System.out.println(line);
		return figures;
	}

	private record Figures(List<double[]> runs) {

		double median(int figure) {
			double[] sorted = sorted(figure);
			return sorted[sorted.length / 2];
		}

		double worst(int figure) {
			double[] sorted = sorted(figure);
			return sorted[sorted.length - 1];
		}

		private double[] sorted(int figure) {
			double[] values = this.runs.stream().mapToDouble((run) -> run[figure]).toArray();
			Arrays.sort(values);
			return values;
		}

	}

}
