package dev.llmresilience.limiter;

import java.util.Arrays;
import java.util.stream.LongStream;

import dev.llmresilience.limiter.World.Hint;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static dev.llmresilience.limiter.World.AT_ONCE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * That what the limiter learns does not hang on the numbers of one example: other herds,
 * bursts, rates, networks and hints. Medians of 20 seeds, with the worst; each row prints
 * its figures.
 */
class LimiterVariationsTests {

	/**
	 * Beyond what must overflow while the first pause lasts that the provider asks for.
	 */
	@ParameterizedTest
	@CsvSource({ "60, 20, 10, 100, 0, WHOLE_SECONDS, 1", "150, 20, 10, 100, 0, WHOLE_SECONDS, 1",
			"300, 20, 10, 100, 0, WHOLE_SECONDS, 1.4", "100, 5, 10, 100, 0, WHOLE_SECONDS, 1.7",
			"100, 60, 10, 100, 0, WHOLE_SECONDS, 1", "100, 20, 2, 100, 0, WHOLE_SECONDS, 2",
			"100, 20, 50, 100, 0, WHOLE_SECONDS, 1.5", "100, 20, 10, 20, 0, WHOLE_SECONDS, 1",
			"100, 20, 10, 400, 0, WHOLE_SECONDS, 1.6", "100, 20, 10, 100, 5, WHOLE_SECONDS, 6",
			"100, 20, 10, 100, 0, EXACT, 1", "100, 20, 10, 100, 0, NONE, 1" })
	void aHerdOfWhichNothingIsKnown(int calls, int burst, double rate, int delayMillis, double service, Hint hint,
			double over) {
		double floor = (calls - burst) / rate + Math.max(0, rate - burst) / rate;
		double[][] runs = LongStream.range(2000, 2020).mapToObj((seed) -> {
			World world = new World(seed, burst, rate).network(delayMillis / 1000.0, service).hint(hint);
			world.feed(world.limiter(0), calls, AT_ONCE);
			world.run(600);
			return new double[] { world.lastAnswer() - floor, world.sends.size() - calls - Math.max(0, calls - burst),
					world.lost() };
		}).toArray(double[][]::new);
		System.out.printf(
				"herd of %d at %d + %.0f/s, 0 to %d ms, answers to %.0f s, hint %s: %.2f s over the floor "
						+ "(worst %.2f), %.0f requests beyond the unknowable (worst %.0f)%n",
				calls, burst, rate, delayMillis, service, hint, median(runs, 0), worst(runs, 0), median(runs, 1),
				worst(runs, 1));
		assertThat(worst(runs, 2)).isZero();
		assertThat(median(runs, 0)).isLessThanOrEqualTo(over);
		assertThat(median(runs, 1)).isLessThanOrEqualTo(20);
	}

	@ParameterizedTest
	@CsvSource({ "2, 3.8", "10, 2.2", "50, 1.2" })
	void aDemandOfHalfAsMuchAgainForFiveMinutes(int rate, double rejected) {
		double[][] runs = LongStream.range(2000, 2020).mapToObj((seed) -> {
			World world = new World(seed, 20, rate);
			world.feed(world.limiter(0), 300 * rate * 3 / 2, 1.5 * rate);
			world.run(300);
			return new double[] { world.rejectedPercent(), 100 - 100.0 * world.accepted.size() / (20 + 300 * rate) };
		}).toArray(double[][]::new);
		System.out.printf(
				"demand of 1.5 x %d/s for 5 minutes: %.2f %% rejected (worst %.2f), %.2f %% unused (worst %.2f)%n",
				rate, median(runs, 0), worst(runs, 0), median(runs, 1), worst(runs, 1));
		assertThat(median(runs, 0)).isLessThanOrEqualTo(rejected);
		assertThat(median(runs, 1)).isLessThanOrEqualTo(3);
	}

	@Test
	void aConfiguredRateThatIsTooHighIsOnlyWhereItBegins() {
		double[][] runs = LongStream.range(2000, 2020).mapToObj((seed) -> {
			World world = new World(seed, 20, 10);
			world.feed(world.limiter(LimiterSettings.DEFAULTS.withRate(780.0, 26)), 100, AT_ONCE);
			world.run(60);
			return new double[] { world.lastAnswer(), world.rejections };
		}).toArray(double[][]::new);
		System.out.printf("13/s configured where 10/s is true: last %.2f s (worst %.2f), %.0f rejected%n",
				median(runs, 0), worst(runs, 0), median(runs, 1));
		assertThat(median(runs, 0)).isLessThanOrEqualTo(9.4);
	}

	@Test
	void aConfiguredRateThatIsTooLowIsKept() {
		World world = new World(2000, 20, 10);
		world.feed(world.limiter(LimiterSettings.DEFAULTS.withRate(420.0, 14)), 100, AT_ONCE);
		world.run(60);
		assertThat(world.lastAnswer()).isBetween((100 - 14) / 7.0, (100 - 14) / 7.0 + 0.4);
		assertThat(world.rejections).isZero();
	}

	private static double median(double[][] runs, int figure) {
		return sorted(runs, figure)[runs.length / 2];
	}

	private static double worst(double[][] runs, int figure) {
		return sorted(runs, figure)[runs.length - 1];
	}

	private static double[] sorted(double[][] runs, int figure) {
		return Arrays.stream(runs).mapToDouble((run) -> run[figure]).sorted().toArray();
	}

}
