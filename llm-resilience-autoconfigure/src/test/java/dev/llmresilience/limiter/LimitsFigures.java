package dev.llmresilience.limiter;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import dev.llmresilience.Priority;

import static dev.llmresilience.limiter.World.AT_ONCE;

/**
 * The simulated figures that the page on limits quotes: medians of 20 seeds, over a
 * network that takes 0 to 100 ms each way.
 */
final class LimitsFigures {

	private static final int SEEDS = 20;

	private static final double UNKNOWN = 0;

	private LimitsFigures() {
	}

	/**
	 * The rows of the page's table.
	 * @return a Markdown table, without a line break at its end
	 */
	static String table() {
		List<String> rows = new ArrayList<>();
		rows.add("| what happens | what comes of it |");
		rows.add("|---|---|");
		row(rows, "100 calls at once, nothing configured, the provider takes 20 and then 10 a second",
				"all served after %.1f s with %.0f requests; nobody could do it under 8 s", LimitsFigures::herd);
		row(rows, "the same, and the provider sends headers", "%.1f s, %.0f requests", LimitsFigures::herdWithHeaders);
		row(rows, "10 a second configured, and the provider falls to 4",
				"all served, %.1f %% of the requests rejected, %.1f %% of what it offered used", LimitsFigures::fall);
		row(rows, "demand of half as much again as the provider's 10 a second, for five minutes",
				"%.1f %% rejected, %.1f %% used", LimitsFigures::pressure);
		row(rows, "one stray 429 in healthy traffic of 50 a second", "longest wait %.1f s", LimitsFigures::stray);
		row(rows, "two limiters on one key of 10 a second that know nothing of each other",
				"%.1f %% rejected, %.1f %% used, the larger share is %.1f times the smaller, and %.1f times at worst",
				(seed) -> learners(2, seed));
		row(rows, "four of them",
				"%.1f %% rejected, %.1f %% used, the largest share is %.1f times the smallest, and %.1f times at worst",
				(seed) -> learners(4, seed));
		row(rows, "a batch of 5,000 `LOW` calls waits at 10 a second, and one `HIGH` call comes every second",
				"the `HIGH` calls wait for %.2f s at most", LimitsFigures::batch);
		return String.join("\n", rows);
	}

	private static void row(List<String> rows, String what, String outcome, LongFunction<double[]> scenario) {
		List<double[]> runs = LongStream.range(2000, 2000 + SEEDS).mapToObj(scenario).toList();
		Object[] figures = IntStream.range(0, runs.get(0).length)
			.mapToObj((figure) -> runs.stream().mapToDouble((run) -> run[figure]).sorted().toArray())
			.flatMap((sorted) -> IntStream.of(SEEDS / 2, SEEDS - 1).mapToObj((at) -> (Object) sorted[at]))
			.toArray();
		// Medians, and for the last figure the worst too, if there is a place for it.
		Object[] shown = IntStream.range(0, figures.length)
			.filter((at) -> at % 2 == 0 || at == figures.length - 1)
			.mapToObj((at) -> figures[at])
			.toArray();
		rows.add("| " + what + " | " + String.format(Locale.ROOT, outcome, shown) + " |");
	}

	private static double[] herd(long seed) {
		return herd(new World(seed, 20, 10));
	}

	private static double[] herdWithHeaders(long seed) {
		return herd(new World(seed, 20, 10).headers(0.001));
	}

	private static double[] herd(World world) {
		world.feed(world.limiter(UNKNOWN), 100, AT_ONCE);
		world.run(60);
		return new double[] { world.lastAnswer(), world.sends.size() };
	}

	private static double[] fall(long seed) {
		World world = new World(seed, 10, 10);
		world.rateFrom(10, 4);
		world.feed(world.limiter(10.0), 300, AT_ONCE);
		world.run(120);
		double until = world.lastAccepted();
		return new double[] { world.rejectedPercent(), 100 * 300 / (10 + 100 + 4 * (until - 10)) };
	}

	private static double[] pressure(long seed) {
		World world = new World(seed, 20, 10);
		world.feed(world.limiter(UNKNOWN), 4500, 15);
		world.run(300);
		return new double[] { world.rejectedPercent(), 100.0 * world.accepted.size() / (20 + 3000) };
	}

	private static double[] stray(long seed) {
		World world = new World(seed, 1e6, 1e6);
		world.stray(20);
		world.feed(world.limiter(UNKNOWN), 2000, 50);
		world.run(60);
		return new double[] { longestWait(world, Priority.NORMAL) };
	}

	private static double[] learners(int limiters, long seed) {
		World world = new World(seed, 20, 10);
		for (int i = 0; i < limiters; i++) {
			world.feed(world.limiter(UNKNOWN), 720, 12);
		}
		world.run(60);
		long[] shares = world.calls.stream()
			.map((call) -> call.limiter)
			.distinct()
			.mapToLong((limiter) -> world.calls.stream()
				.filter((call) -> call.limiter == limiter && call.served >= 30 && call.served < 60)
				.count())
			.sorted()
			.toArray();
		return new double[] { world.rejectedPercent(), 100.0 * world.accepted.size() / 620,
				(double) shares[limiters - 1] / Math.max(1, shares[0]) };
	}

	private static double[] batch(long seed) {
		World world = new World(seed, 20, 10);
		RateLimiter limiter = world.limiter(10.0);
		for (int i = 0; i < 5000; i++) {
			world.call(limiter, 0, Priority.LOW, 0, 0);
		}
		for (int i = 0; i < 60; i++) {
			world.call(limiter, 10 + i + world.time.random(), Priority.HIGH, 0, 0);
		}
		world.run(80);
		return new double[] { longestWait(world, Priority.HIGH) };
	}

	private static double longestWait(World world, Priority priority) {
		return world.calls.stream()
			.filter((call) -> call.permit.priority == priority)
			.mapToDouble((call) -> call.left - call.born)
			.max()
			.orElse(0);
	}

}
