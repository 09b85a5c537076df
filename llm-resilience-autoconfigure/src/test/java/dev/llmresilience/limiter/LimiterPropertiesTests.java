package dev.llmresilience.limiter;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

import dev.llmresilience.Priority;
import dev.llmresilience.limiter.Callers.Caller;
import dev.llmresilience.limiter.LimiterSettings.TokenLimits;
import dev.llmresilience.limiter.Traffic.Kind;
import dev.llmresilience.limiter.Traffic.Step;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What holds whatever callers do. Each try is a whole simulation, so that there are fewer
 * of them than {@code jqwik.tries.default} says.
 */
@PropertyDefaults(tries = 1000, shrinking = ShrinkingMode.BOUNDED, edgeCases = EdgeCasesMode.MIXIN)
class LimiterPropertiesTests {

	private static final List<Priority> PRIORITIES = List.of(Priority.values());

	@Property
	void noWindowHasMoreCallsThanBurstAndRateAllow(@ForAll("limits") LimiterSettings settings,
			@ForAll("steps") List<Step> steps) {
		Traffic traffic = new Traffic(settings).givingBackAtOnce();
		steps.stream()
			.filter((step) -> settings.mode() == LimiterMode.FIXED || step.kind() != Kind.REJECT)
			.forEach(traffic::take);
		traffic.comeToAnEnd();
		traffic.assertThatNoWindowHasMoreCallsThan(traffic.highestBurst(), traffic.highestRate());
	}

	@Property
	void noWindowHasMoreTokensThanTheLimitAllows(@ForAll @DoubleRange(min = 10_000, max = 1e6) double perMinute,
			@ForAll boolean adaptive, @ForAll("steps") List<Step> steps) {
		LimiterSettings settings = (adaptive ? LimiterSettings.DEFAULTS : Callers.FIXED)
			.withTokens(new TokenLimits(perMinute, null, null, 1000L));
		Traffic traffic = new Traffic(settings).givingBackAtOnce();
		steps.stream().filter((step) -> step.kind() != Kind.REJECT).forEach(traffic::take);
		traffic.comeToAnEnd();
		traffic.assertThatNoWindowHasMoreTokensThan(perMinute);
	}

	@Property
	void theLevelIsNeverBelowNothingNorAboveTheBurst(@ForAll("limits") LimiterSettings settings,
			@ForAll("steps") List<Step> steps) {
		Traffic traffic = new Traffic(settings);
		for (Step step : steps) {
			traffic.take(step);
			assertThat(traffic.level()).isBetween(0.0, traffic.highestBurst());
		}
	}

	@Property
	void nobodyWaitsForEver(@ForAll("anyLimits") LimiterSettings settings, @ForAll("steps") List<Step> steps) {
		Traffic traffic = new Traffic(settings);
		steps.forEach(traffic::take);
		traffic.comeToAnEnd();
		traffic.assertThatNobodyWaits();
	}

	@Property
	void nobodyWaitsBeyondItsDeadline(@ForAll("anyLimits") LimiterSettings settings,
			@ForAll("steps") List<Step> steps) {
		Traffic traffic = new Traffic(settings);
		for (Step step : steps) {
			traffic.take(step);
			traffic.assertThatNobodyWaitsTooLong();
		}
	}

	@Property
	void neverAreMoreCallsInFlightThanAllowed(@ForAll("anyLimits") LimiterSettings settings,
			@ForAll @IntRange(min = 1, max = 4) int places, @ForAll("steps") List<Step> steps) {
		Traffic traffic = new Traffic(settings.withMaxConcurrentCalls(places));
		for (Step step : steps) {
			traffic.take(step);
			assertThat(traffic.placesHeld()).isLessThanOrEqualTo(places);
		}
		traffic.comeToAnEnd();
		assertThat(traffic.limiter().inFlight()).isZero();
	}

	@Property
	void withAllPrioritiesAlwaysWaitingEachGetsItsShareOfEveryRound(
			@ForAll @DoubleRange(min = 10, max = 6000) double perMinute, @ForAll long seed) {
		SplittableRandom random = new SplittableRandom(seed);
		Callers callers = new Callers(Callers.FIXED.withRate(perMinute, 1));
		List<Caller> waiting = new ArrayList<>();
		for (int i = 0; i < 500; i++) {
			Priority priority = PRIORITIES.get(random.nextInt(3));
			waiting.add((i > 0 && random.nextInt(5) == 0) ? callers.retry(priority.name(), priority, random.nextInt(9))
					: callers.call(priority.name(), priority));
		}
		for (int i = 0; i < 100; i++) {
			Caller leaver = waiting.get(1 + random.nextInt(499));
			callers.limiter.leave(leaver.ticket());
		}
		callers.pass(60 / perMinute * 64);
		for (int round = 0; round < 3; round++) {
			Map<String, Long> turns = callers.left.subList(1 + 21 * round, 22 + 21 * round)
				.stream()
				.collect(Collectors.groupingBy((name) -> name, Collectors.counting()));
			assertThat(turns).isEqualTo(Map.of("HIGH", 16L, "NORMAL", 4L, "LOW", 1L));
		}
	}

	@Property
	void rejectionsFromWhichNothingCanBeMeasuredLeaveACallASecond(
			@ForAll @DoubleRange(min = 5, max = 6000) double perMinute, @ForAll boolean configured,
			@ForAll("hints") List<Double> hints) {
		Callers callers = new Callers(configured ? Callers.ADAPTIVE.withRate(perMinute, null) : Callers.ADAPTIVE);
		double least = configured ? Math.min(60, perMinute) : 60;
		for (double hint : hints) {
			Caller caller = callers.call("rejected");
			callers.pass(15);
			assertThat(caller.hasLeft()).isTrue();
			caller.reject(hint);
			callers.limiter.back(caller.permit);
			Double pace = callers.limiter.requestsPerMinute();
			assertThat((pace != null) ? pace : Double.POSITIVE_INFINITY).isGreaterThanOrEqualTo(least - 1e-9);
			callers.pass(30);
			// Nobody waits, so that the next rejection measures nothing.
			callers.limiter.onLimits(0, List.of());
			callers.leaveAtOnce(0);
		}
	}

	@Property
	void aLineWithoutAPauseAlwaysGoesOn(@ForAll @DoubleRange(min = 5, max = 6000) double perMinute,
			@ForAll @IntRange(min = 1, max = 20) int burst, @ForAll boolean adaptive,
			@ForAll @IntRange(min = 1, max = 60) int count, @ForAll @DoubleRange(min = 0, max = 20) double hint) {
		LimiterSettings settings = (adaptive ? LimiterSettings.DEFAULTS
				: LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED))
			.withRate(perMinute, burst);
		Callers callers = new Callers(settings);
		double stay = callers.call("rejected").reject(hint);
		callers.calls(count, Priority.NORMAL, 0);
		callers.pass(stay);
		while (callers.limiter.waiting() > 0) {
			int before = callers.left.size();
			Double pace = callers.limiter.requestsPerMinute();
			callers.pass(0.051 + 60 / ((pace != null) ? pace : perMinute));
			assertThat(callers.left).hasSizeGreaterThan(before);
		}
	}

	@Provide
	Arbitrary<List<Double>> hints() {
		return Arbitraries.oneOf(Arbitraries.just(-1.0), Arbitraries.doubles().between(0, 14)).list().ofMaxSize(6);
	}

	@Provide
	Arbitrary<LimiterSettings> limits() {
		return Combinators
			.combine(Arbitraries.doubles().between(5, 3000), Arbitraries.integers().between(1, 30),
					Arbitraries.of(LimiterMode.FIXED, LimiterMode.ADAPTIVE),
					Arbitraries.integers().between(1, 5).injectNull(0.5))
			.as((rate, burst, mode, places) -> LimiterSettings.DEFAULTS.withMode(mode)
				.withRate(rate, burst)
				.withMaxConcurrentCalls(places));
	}

	@Provide
	Arbitrary<LimiterSettings> anyLimits() {
		Arbitrary<TokenLimits> tokens = Arbitraries.doubles()
			.between(10_000, 1e6)
			.injectNull(0.4)
			.tuple3()
			.map((limits) -> new TokenLimits(limits.get1(), limits.get2(), limits.get3(), 1000L));
		Arbitrary<LimiterSettings> unlimited = Arbitraries.of(LimiterSettings.DEFAULTS,
				LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED));
		return Combinators.combine(Arbitraries.oneOf(limits(), unlimited), tokens).as(LimiterSettings::withTokens);
	}

	@Provide
	Arbitrary<List<Step>> steps() {
		return Combinators
			.combine(Arbitraries.of(Kind.class), Arbitraries.integers().between(0, 1000),
					Arbitraries.of(Priority.class))
			.as(Step::new)
			.list()
			.ofMaxSize(80);
	}

}
