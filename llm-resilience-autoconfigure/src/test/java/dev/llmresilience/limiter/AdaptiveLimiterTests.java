package dev.llmresilience.limiter;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the limiter learns, with a network delay of 0 to 100 ms each way: the median of 20
 * seeds, and the worst.
 */
class AdaptiveLimiterTests {

	private static final double AT_ONCE = Double.POSITIVE_INFINITY;

	private static final double UNKNOWN = 0;

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

	@Test
	void aProviderThatFallsFrom10To4ASecond() {
		Figures figures = run("falls from 10 to 4/s", List.of("rejected %", "unused %", "lost"), (seed) -> {
			World world = new World(seed, 10, 10);
			world.rateFrom(10, 4);
			world.feed(world.limiter(10.0), 300, AT_ONCE);
			world.run(120);
			double until = world.accepted.get(world.accepted.size() - 1);
			double could = 10 + 10 * Math.min(10, until) + 4 * Math.max(0, until - 10);
			return new double[] { world.rejectedPercent(), 100 - 100 * 300 / could, world.lost() };
		});
		assertThat(figures.worst(2)).isZero();
		assertThat(figures.median(0)).isLessThanOrEqualTo(3.2);
		assertThat(figures.median(1)).isLessThanOrEqualTo(1.5);
	}

	@Test
	void aProviderThatRisesFrom4To20ASecondWithoutAnnouncingIt() {
		Figures figures = run("rises from 4 to 20/s", List.of("s to 90 %"), (seed) -> {
			double at = 30 + 0.4 * (seed % 20);
			World world = new World(seed, 20, 4);
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
		assertThat(figures.median(0)).isLessThanOrEqualTo(12);
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

	@Test
	void twoLimitersThatKnowNothingOfEachOther() {
		Figures figures = run("two limiters on one key", List.of("rejected %", "unused %"), (seed) -> {
			World world = new World(seed, 20, 10);
			for (int i = 0; i < 2; i++) {
				world.feed(world.limiter(UNKNOWN), 720, 12);
			}
			world.run(60);
			return new double[] { world.rejectedPercent(), 100 - 100.0 * world.accepted.size() / 620 };
		});
		assertThat(figures.median(1)).isLessThanOrEqualTo(7);
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
					double wait = world.calls.stream().mapToDouble((call) -> call.left - call.born).max().orElse(0);
					double idle = world.calls.subList(2000, 2050)
						.stream()
						.mapToDouble((call) -> call.left - 100)
						.max()
						.orElse(0);
					return new double[] { back - 20, wait, idle };
				});
		assertThat(figures.median(0)).isLessThanOrEqualTo(3);
		assertThat(figures.worst(2)).isLessThanOrEqualTo(2);
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
