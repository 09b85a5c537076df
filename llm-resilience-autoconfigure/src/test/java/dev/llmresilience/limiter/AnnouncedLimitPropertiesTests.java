package dev.llmresilience.limiter;

import java.util.List;

import dev.llmresilience.limiter.World.Told;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is sent keeps to the limit that the provider announces, whatever callers do and
 * however answers overtake each other: over any window since the first response with
 * headers, no more than limit + rate x window of the limits which callers knew of during
 * that window, those that were rejected and came back included. What was in flight before
 * the first response does not count.
 * <p>
 * At a fixed rate the configured burst and rate hold where they are lower. Without a
 * configured rate a fixed limiter lets everybody pass, so that it is not among these. A
 * bucket of one is not either: whether a call was rejected or has just taken the one that
 * was there, its headers say the same.
 */
@PropertyDefaults(tries = 1000, shrinking = ShrinkingMode.BOUNDED, edgeCases = EdgeCasesMode.MIXIN)
class AnnouncedLimitPropertiesTests {

	/**
	 * Calls: {@code remaining} is a whole number, so that the rate is known but roughly
	 * while little is used.
	 */
	private static final double SLACK = 2;

	/** The highest that {@code (1 - r) * r / (1 + r)} can be. */
	private static final double REFILLED_TOO_SOON = 0.172;

	/** Bounds of a rate are taken by their middle from half as much apart. */
	private static final double ROUGHLY = 1.25;

	private static final double MILLISECOND = 0.001;

	/**
	 * A configured rate above the announced one holds as long as what remains would last
	 * for it. That is known a round trip late; and where a part {@code used} of the limit
	 * comes back at that rate in place of the announced one, {@code used * (1 - r)} is
	 * not there, of {@code r = announced / configured} and {@code used <= r / (1 + r)}.
	 */
	@Property
	void noWindowHasMoreCallsThanAreAnnounced(@ForAll("providers") Provider provider, @ForAll("modes") Mode mode,
			@ForAll("crowds") List<Crowd> crowds, @ForAll("changes") List<Change> changes, @ForAll long seed) {
		World world = run(provider, MILLISECOND, mode, crowds, changes, seed);
		List<Double> sends = sendsSinceTold(world);
		for (int first = 0; first < sends.size(); first++) {
			int told = toldBefore(world, sends.get(first));
			Told most = world.told.get(told);
			for (int last = first; last < sends.size(); last++) {
				for (; told < world.told.size() && world.told.get(told).at() <= sends.get(last); told++) {
					most = most.orMore(world.told.get(told));
				}
				double above = Math.max(0, mode.perSecond(provider) - most.perSecond());
				Told bound = (above > 0) ? most.times(1 + REFILLED_TOO_SOON) : most;
				assertThatItKeepsTo(mode.bound(bound, provider), sends, first, last,
						SLACK + above * provider.roundTrip());
			}
		}
	}

	/**
	 * Rounded to whole seconds, headers say little of a rate while little is used: then
	 * what was known before holds, be it announced or configured.
	 */
	@Property
	void noWindowHasMoreCallsThanAreAnnouncedInWholeSeconds(@ForAll("providers") Provider provider,
			@ForAll("modes") Mode mode, @ForAll("crowds") List<Crowd> crowds, @ForAll("changes") List<Change> changes,
			@ForAll long seed) {
		World world = run(provider, 1, mode, crowds, changes, seed);
		List<Double> sends = sendsSinceTold(world);
		for (int first = 0; first < sends.size(); first++) {
			int told = 0;
			Told most = new Told(0, 0, mode.perSecond(provider));
			for (int last = first; last < sends.size(); last++) {
				for (; told < world.told.size() && world.told.get(told).at() <= sends.get(last); told++) {
					most = most.orMore(world.told.get(told));
				}
				Told bound = new Told(0, most.limit(), ROUGHLY * most.perSecond());
				assertThatItKeepsTo(mode.bound(bound, provider), sends, first, last, SLACK);
			}
		}
	}

	private static World run(Provider provider, double unit, Mode mode, List<Crowd> crowds, List<Change> changes,
			long seed) {
		World world = new World(seed, provider.limit, provider.perSecond).headers(unit)
			.network(provider.delay, provider.service);
		RateLimiter limiter = world.limiter(mode.settings(provider));
		for (Crowd crowd : crowds) {
			int count = 1 + (int) (crowd.size * provider.limit);
			for (int i = 0; i < count; i++) {
				world.call(limiter, crowd.at + i / (crowd.demand * provider.perSecond));
			}
		}
		changes.forEach((change) -> world.limitFrom(change.at, Math.max(2, Math.floor(change.factor * provider.limit)),
				change.factor * provider.perSecond));
		world.run(200);
		return world;
	}

	private static List<Double> sendsSinceTold(World world) {
		double since = world.told.isEmpty() ? World.AT_ONCE : world.told.get(0).at();
		return world.sends.stream().filter((at) -> at > since).toList();
	}

	private static int toldBefore(World world, double at) {
		int told = 0;
		while (told + 1 < world.told.size() && world.told.get(told + 1).at() < at) {
			told++;
		}
		return told;
	}

	private static void assertThatItKeepsTo(Told bound, List<Double> sends, int first, int last, double slack) {
		double window = sends.get(last) - sends.get(first);
		double most = bound.limit() + bound.perSecond() * window + slack;
		if (last - first + 1 > most) {
			assertThat(last - first + 1).as("calls sent from %f to %f", sends.get(first), sends.get(last))
				.isLessThanOrEqualTo((int) most);
		}
	}

	@Provide
	Arbitrary<Provider> providers() {
		return Combinators
			.combine(Arbitraries.integers().between(2, 60), Arbitraries.doubles().between(-0.7, 1.7),
					Arbitraries.of(0.001, 0.02, 0.1, 0.4), Arbitraries.of(0.0, 0.3, 3.0))
			.as((limit, rate, delay, service) -> new Provider(limit, Math.pow(10, rate), delay, service));
	}

	@Provide
	Arbitrary<Mode> modes() {
		Arbitrary<Double> configured = Arbitraries.oneOf(Arbitraries.just(1.0), Arbitraries.doubles().between(0.3, 3));
		return Arbitraries.oneOf(Arbitraries.just(new Mode(LimiterSettings.DEFAULTS, null)),
				configured.map((factor) -> new Mode(LimiterSettings.DEFAULTS, factor)),
				configured.map((factor) -> new Mode(LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED), factor)));
	}

	@Provide
	Arbitrary<List<Crowd>> crowds() {
		Arbitrary<Double> demands = Arbitraries.oneOf(Arbitraries.just(World.AT_ONCE),
				Arbitraries.doubles().between(0.3, 3.3));
		return Combinators
			.combine(Arbitraries.oneOf(Arbitraries.just(0.0), Arbitraries.doubles().between(0, 40)),
					Arbitraries.doubles().between(0, 2), demands)
			.as(Crowd::new)
			.list()
			.ofMinSize(1)
			.ofMaxSize(8);
	}

	@Provide
	Arbitrary<List<Change>> changes() {
		return Combinators.combine(Arbitraries.doubles().between(1, 50), Arbitraries.doubles().between(0.3, 3))
			.as(Change::new)
			.list()
			.ofMaxSize(3);
	}

	/**
	 * Whom they call.
	 *
	 * @param limit the size of its bucket
	 * @param perSecond its rate
	 * @param delay the longest way there or back, in seconds
	 * @param service the longest time for an answer, in seconds
	 */
	record Provider(int limit, double perSecond, double delay, double service) {

		double roundTrip() {
			return 2 * this.delay + this.service;
		}

	}

	/**
	 * How the limiter is set.
	 *
	 * @param settings those without a rate
	 * @param factor the configured rate and burst, as parts of the provider's, or
	 * {@code null} for none
	 */
	record Mode(LimiterSettings settings, @Nullable Double factor) {

		LimiterSettings settings(Provider provider) {
			return (this.factor != null) ? this.settings.withRate(60 * perSecond(provider), burst(provider))
					: this.settings;
		}

		/** The configured rate, zero for none. */
		double perSecond(Provider provider) {
			return (this.factor != null) ? this.factor * provider.perSecond : 0;
		}

		private int burst(Provider provider) {
			return (this.factor != null) ? Math.max(1, (int) (this.factor * provider.limit)) : 0;
		}

		Told bound(Told announced, Provider provider) {
			boolean fixed = this.settings.mode() == LimiterMode.FIXED;
			return fixed ? new Told(0, Math.min(announced.limit(), burst(provider)),
					Math.min(announced.perSecond(), perSecond(provider))) : announced;
		}

	}

	/**
	 * Calls that come together.
	 *
	 * @param at when, in seconds
	 * @param size how many, as a part of the provider's limit
	 * @param demand how fast, as a part of its rate
	 */
	record Crowd(double at, double size, double demand) {
	}

	/**
	 * Another limit of the provider from then on.
	 *
	 * @param at when, in seconds
	 * @param factor of what it was at first
	 */
	record Change(double at, double factor) {
	}

}
