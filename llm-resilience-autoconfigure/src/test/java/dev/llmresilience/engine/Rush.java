package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;

import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.policy.RetryPolicy;
import dev.llmresilience.test.SimulatedProvider;
import dev.llmresilience.test.SimulatedProvider.StatusException;
import dev.llmresilience.test.VirtualTime;
import dev.llmresilience.time.ForwardingTime;
import dev.llmresilience.time.TimeSource;

/**
 * Many callers that want one answer each from a provider with a limit, all at the same
 * moment.
 *
 * @param calls how many callers
 * @param perSecond the rate of the provider
 * @param burst what the provider serves at once
 * @param arrivals the time over which the callers are spread
 * @param there the longest way to the provider
 * @param back the longest way back
 */
record Rush(int calls, double perSecond, double burst, Duration arrivals, Duration there, Duration back) {

	/**
	 * Lets the callers call through the engine, without budget and breaker, once for each
	 * seed, and prints the medians.
	 */
	Outcomes run(String title, int seeds, RetryPolicy policy, LimiterSettings limiter, boolean readsRetryAfter) {
		return run(title, seeds, (time, provider) -> {
			ProviderSettings defaults = ProviderSettings.defaults("simulated");
			ProviderSettings settings = new ProviderSettings(defaults.name(), defaults.type(), defaults.account(),
					List.of(), policy, CallSettings.DEFAULTS, limiter, null, null, null, defaults.quotaCoolDown());
			Provider entry = new Providers(List.of(settings), time, GuardListener.NONE).get("simulated");
			BlockingDriver driver = new BlockingDriver(
					new CallEngine(time, SimulatedProvider.classifier(readsRetryAfter)));
			return () -> driver.call(entry, entry.options(), provider::request, null);
		});
	}

	/**
	 * Lets the callers call in whatever way, once for each seed, and prints the medians.
	 */
	Outcomes run(String title, int seeds, Way way) {
		List<Outcome> outcomes = new ArrayList<>();
		// One simulation for all seeds, because its threads take longer to start than a
		// run takes.
		try (VirtualTime time = new VirtualTime(0)) {
			for (int seed = 0; seed < seeds; seed++) {
				outcomes.add(run(time, new Seeded(time, new SplittableRandom(seed)), way));
			}
		}
		Outcomes all = new Outcomes(outcomes);
		all.print(title);
		return all;
	}

	private Outcome run(VirtualTime simulation, TimeSource time, Way way) {
		List<Double> answers = new ArrayList<>();
		long start = time.nanoTime();
		SimulatedProvider provider = new SimulatedProvider(time, this.perSecond, this.burst, this.there, this.back);
		BlockingDriver.Body<String> call = way.through(time, provider);
		for (int i = 0; i < this.calls; i++) {
			Duration arrival = Duration.ofNanos((long) (this.arrivals.toNanos() * time.random()));
			simulation.startAfter(arrival, () -> {
				if (answered(call)) {
					answers.add((time.nanoTime() - start) / 1e9);
				}
			});
		}
		simulation.run();
		if (simulation.active() > 0) {
			throw new IllegalStateException(simulation.active() + " callers hang");
		}
		double[] at = answers.stream().mapToDouble(Double::doubleValue).sorted().toArray();
		return new Outcome(at.length, provider.requests(), provider.rejected(),
				at[(int) Math.ceil(0.95 * at.length) - 1], at[at.length - 1]);
	}

	private static boolean answered(BlockingDriver.Body<String> call) {
		try {
			call.run();
			return true;
		}
		catch (StatusException ex) {
			return false;
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * How a caller calls.
	 */
	@FunctionalInterface
	interface Way {

		/**
		 * Prepares the calls of one simulation.
		 * @param time the simulated time
		 * @param provider whom to call
		 * @return what each caller does
		 */
		BlockingDriver.Body<String> through(TimeSource time, SimulatedProvider provider);

	}

	/**
	 * What came of one run. Times in seconds since the callers started.
	 *
	 * @param answered callers that got an answer
	 * @param requests requests that the provider saw
	 * @param rejected requests that the provider turned away
	 * @param p95 when 95 of 100 answers had come
	 * @param last when the last answer came
	 */
	record Outcome(int answered, int requests, int rejected, double p95, double last) {
	}

	/**
	 * What came of the runs of all seeds.
	 *
	 * @param outcomes one for each seed
	 */
	record Outcomes(List<Outcome> outcomes) {

		void print(String title) {
			System.out.printf(Locale.ROOT,
					"%-55s answered %3.0f, requests %4.0f, rejected %4.0f, p95 %5.1f s, last %5.1f s (%.1f to %.1f)%n",
					title, median(Outcome::answered), median(Outcome::requests), median(Outcome::rejected),
					median(Outcome::p95), median(Outcome::last), min(Outcome::last), max(Outcome::last));
		}

		double median(ToDoubleFunction<Outcome> figure) {
			double[] sorted = this.outcomes.stream().mapToDouble(figure).sorted().toArray();
			return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
		}

		double min(ToDoubleFunction<Outcome> figure) {
			return this.outcomes.stream().mapToDouble(figure).min().orElseThrow();
		}

		double max(ToDoubleFunction<Outcome> figure) {
			return this.outcomes.stream().mapToDouble(figure).max().orElseThrow();
		}

	}

	/** The time of a simulation with random numbers of its own. */
	private static final class Seeded extends ForwardingTime {

		private final SplittableRandom numbers;

		Seeded(VirtualTime time, SplittableRandom numbers) {
			super(time);
			this.numbers = numbers;
		}

		@Override
		public double random() {
			return this.numbers.nextDouble();
		}

		@Override
		public void execute(Runnable task) {
			task.run();
		}

	}

}
