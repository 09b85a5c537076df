package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

import dev.llmresilience.Priority;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.test.VirtualTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.within;

class RateLimiterTests {

	private static final Object OWNER = new Object();

	private static final long HOUR = Duration.ofHours(1).toNanos();

	private final VirtualTime time = new VirtualTime(1);

	private final List<String> left = new ArrayList<>();

	/* Pace. */

	@Test
	void letsTheBurstOutAtOnceAndTheRestAtTheRate() {
		RateLimiter limiter = new RateLimiter(marginOf(Duration.ZERO, 600, 20), this.time);
		for (int i = 0; i < 100; i++) {
			call(limiter, "c" + i, false);
		}
		assertThat(this.left).hasSize(20);
		assertThat(limiter.waiting()).isEqualTo(80);
		this.time.runFor(Duration.ofSeconds(4));
		assertThat(this.left).hasSize(60);
		this.time.runFor(Duration.ofSeconds(4));
		assertThat(this.left).hasSize(100);
		assertThat(limiter.waiting()).isZero();
	}

	@Test
	void oneWhoCannotBeWokenCostsNobodyElseItsTurn() {
		RateLimiter limiter = new RateLimiter(marginOf(Duration.ZERO, 6000, 1), this.time);
		taken(limiter);
		List<String> told = new ArrayList<>();
		for (int i = 0; i < 2; i++) {
			limiter.enqueue(permit(), this.time.nanoTime(), this.time.nanoTime() + HOUR, false, () -> {
				throw new IllegalStateException("no thread left");
			});
		}
		Ticket ticket = limiter.enqueue(permit(), this.time.nanoTime(), this.time.nanoTime() + HOUR, false,
				() -> told.add("c"));
		limiter.close();
		assertThat(ticket.state()).isEqualTo(State.REFUSED_CLOSED);
		assertThat(told).hasSize(1);
	}

	@Test
	void aTimerThatCannotBeSetCostsNobodyATurnThatHasCome() {
		FailingTimers timers = new FailingTimers(this.time);
		RateLimiter limiter = new RateLimiter(marginOf(Duration.ZERO, 60, 1), timers);
		taken(limiter);
		call(limiter, "first", false);
		call(limiter, "second", false);
		timers.failing = true;
		assertThatIllegalStateException().isThrownBy(() -> this.time.runFor(Duration.ofSeconds(1)));
		assertThat(this.left).containsExactly("first");
	}

	/** With a small bucket to be late would be to lose what no longer fits into it. */
	@ParameterizedTest
	@CsvSource({ "600, 20, 100, 0", "30000, 20, 100, 0", "60000, 20, 51, 1000", "600000, 1, 100, 0",
			"600000, 4, 51, 150", "600000, 1000, 6, 2000" })
	void letsThoseWhoWaitForAFastRateOutInRoundsThatCostNoPace(double perMinute, int burst, int rounds,
			int microsLate) {
		RateLimiter limiter = new RateLimiter(marginOf(Duration.ZERO, perMinute, burst), this.time);
		taken(limiter);
		long start = this.time.nanoTime();
		List<Long> grants = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			limiter.enqueue(permit(), start, start + HOUR, false, () -> grants.add(this.time.nanoTime() - start));
		}
		this.time.runFor(Duration.ofSeconds(12));
		assertThat(grants).hasSize(100);
		assertThat(Set.copyOf(grants)).hasSizeLessThanOrEqualTo(rounds);
		for (int i = 0; i < 100; i++) {
			long due = (long) ((i + 1) * 60e9 / perMinute);
			assertThat(grants.get(i)).isBetween(due, due + microsLate * 1000L + 100);
		}
	}

	@Test
	void aLimiterThatIsOffLetsEveryCallPassWhateverItsRate() {
		RateLimiter limiter = new RateLimiter(LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF).withRate(60.0, 1),
				this.time);
		assertThat(limiter.paces()).isFalse();
		for (int i = 0; i < 100; i++) {
			assertThat(limiter.tryAcquire(permit(), 0)).isTrue();
		}
	}

	@Test
	void withoutARateEveryCallPasses() {
		RateLimiter limiter = new RateLimiter(LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), this.time);
		for (int i = 0; i < 10_000; i++) {
			assertThat(limiter.tryAcquire(permit(), this.time.nanoTime())).isTrue();
		}
		assertThat(limiter.paces()).isFalse();
		assertThat(limiter.level()).isInfinite();
	}

	@ParameterizedTest
	@CsvSource({ "600, 10", "30, 1", "59.5, 1", "119, 1", "120, 2" })
	void withoutABurstASecondsWorthMayLeaveAtOnce(double perMinute, int burst) {
		RateLimiter limiter = new RateLimiter(
				LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(perMinute, null), this.time);
		assertThat(taken(limiter)).isEqualTo(burst);
	}

	@ParameterizedTest
	@CsvSource({ "0, 1", "-1, 1", "NaN, 1", "60, 0" })
	void refusesARateOrBurstOutOfRange(double perMinute, int burst) {
		LimiterSettings settings = LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(perMinute, burst);
		assertThatIllegalArgumentException().isThrownBy(() -> new RateLimiter(settings, this.time));
	}

	@Test
	void refillsWhileNobodyCallsButNeverAboveTheBurst() {
		RateLimiter limiter = limiter(600, 20);
		assertThat(taken(limiter)).isEqualTo(20);
		this.time.runFor(Duration.ofMillis(550));
		// The network margin comes first.
		assertThat(limiter.level()).isCloseTo(5, within(0.001));
		this.time.runFor(Duration.ofHours(5));
		assertThat(limiter.level()).isEqualTo(20);
		assertThat(taken(limiter)).isEqualTo(20);
	}

	@Test
	void neverLetsMoreOutInAnyWindowThanBurstAndRateAllow() {
		for (int seed = 0; seed < 100; seed++) {
			SplittableRandom random = new SplittableRandom(seed);
			int burst = random.nextInt(1, 30);
			double perMinute = random.nextDouble(10, 3000);
			List<Long> grants = randomGrants(random, perMinute, burst);
			double perNano = perMinute / 60e9;
			for (int from = 0; from < grants.size(); from++) {
				for (int to = from; to < grants.size(); to++) {
					double allowed = burst + perNano * (grants.get(to) - grants.get(from));
					assertThat(to - from + 1.0).as("seed %d", seed).isLessThanOrEqualTo(allowed + 1e-6);
				}
			}
		}
	}

	/** Calls, retries, leavers, answers and given-back slots in random order. */
	private static List<Long> randomGrants(SplittableRandom random, double perMinute, int burst) {
		List<Long> grants = new ArrayList<>();
		VirtualTime time = new VirtualTime(0);
		RateLimiter limiter = new RateLimiter(
				LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(perMinute, burst), time);
		List<Ticket> waiting = new ArrayList<>();
		for (int i = 0; i < 300; i++) {
			if (random.nextInt(3) == 0) {
				time.runFor(Duration.ofNanos(random.nextLong(1, (long) (4 * 60e9 / perMinute))));
			}
			switch (random.nextInt(8)) {
				case 0 -> {
					if (!waiting.isEmpty()) {
						limiter.leave(waiting.remove(random.nextInt(waiting.size())));
					}
				}
				case 1 -> answer(limiter, time.nanoTime() - random.nextLong(100_000_000));
				case 2 -> pause(limiter, random.nextLong(1_000_000_000));
				default -> {
					if (limiter.tryAcquire(permit(), time.nanoTime())) {
						grants.add(time.nanoTime());
					}
					else {
						boolean retry = random.nextInt(4) == 0;
						Ticket ticket = limiter.enqueue(permit(), time.nanoTime(), time.nanoTime() + HOUR, retry,
								() -> grants.add(time.nanoTime()));
						if (!retry) {
							waiting.add(ticket);
						}
					}
				}
			}
		}
		time.runFor(Duration.ofMinutes(1));
		return grants;
	}

	/* Queue. */

	@Test
	void lanesAreFirstInFirstOutAndRetriesGoBeforeNewcomers() {
		RateLimiter limiter = limiter(60, 1);
		call(limiter, "first", false);
		call(limiter, "newcomer 1", false);
		call(limiter, "newcomer 2", false);
		call(limiter, "retry 1", true);
		call(limiter, "retry 2", true);
		this.time.runFor(Duration.ofSeconds(5));
		assertThat(this.left).containsExactly("first", "retry 1", "retry 2", "newcomer 1", "newcomer 2");
	}

	@Test
	void aNewcomerDoesNotOvertakeThoseWhoWait() {
		RateLimiter limiter = limiter(60, 1);
		call(limiter, "first", false);
		call(limiter, "second", false);
		this.time.runFor(Duration.ofMillis(990));
		assertThat(limiter.tryAcquire(permit(), this.time.nanoTime() + Duration.ofSeconds(10).toNanos())).isFalse();
	}

	@Test
	void aWaiterThatLeavesFreesItsPlaceForTheNext() {
		RateLimiter limiter = limiter(60, 1);
		call(limiter, "first", false);
		Ticket leaver = call(limiter, "leaver", false);
		call(limiter, "next", false);
		assertThat(limiter.leave(leaver)).isTrue();
		assertThat(leaver.state()).isEqualTo(State.LEFT);
		assertThat(limiter.waiting()).isEqualTo(1);
		this.time.runFor(Duration.ofMillis(1100));
		assertThat(this.left).containsExactly("first", "next");
		assertThat(limiter.leave(leaver)).isFalse();
	}

	@Test
	void whenTheLastWaiterHasLeftCallsPassAgain() {
		RateLimiter limiter = limiter(60, 1);
		call(limiter, "first", false);
		limiter.leave(call(limiter, "leaver", false));
		this.time.runFor(Duration.ofMillis(1100));
		assertThat(limiter.tryAcquire(permit(), this.time.nanoTime())).isTrue();
	}

	@Test
	void aWaitBeyondTheDeadlineIsRefusedAtOnceAndTakesNothing() {
		RateLimiter limiter = limiter(60, 1);
		call(limiter, "first", false);
		double level = limiter.level();
		for (int i = 0; i < 10; i++) {
			Ticket ticket = limiter.enqueue(permit(), 0, Duration.ofMillis(900).toNanos(), false,
					() -> this.left.add("told"));
			assertThat(ticket.state()).isEqualTo(State.REFUSED_DEADLINE);
			assertThat(Duration.ofNanos(ticket.neededNanos())).isBetween(Duration.ofSeconds(1),
					Duration.ofMillis(1050));
		}
		assertThat(limiter.waiting()).isZero();
		assertThat(limiter.level()).isCloseTo(level, within(0.051));
		assertThat(this.left).containsExactly("first");
	}

	@Test
	void aWaitLongerThanAllowedIsRefused() {
		RateLimiter limiter = new RateLimiter(LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED)
			.withRate(60.0, 1)
			.withWaiting(Duration.ofMillis(1500), null), this.time);
		call(limiter, "first", false);
		assertThat(call(limiter, "second", false).state()).isEqualTo(State.WAITING);
		assertThat(call(limiter, "third", false).state()).isEqualTo(State.REFUSED_MAX_WAIT);
	}

	@Test
	void moreWaitersThanAllowedAreRefused() {
		RateLimiter limiter = new RateLimiter(
				LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(60.0, 1).withWaiting(null, 2), this.time);
		call(limiter, "first", false);
		Ticket second = call(limiter, "second", false);
		call(limiter, "third", false);
		assertThat(call(limiter, "fourth", false).state()).isEqualTo(State.REFUSED_MAX_WAITING);
		limiter.leave(second);
		assertThat(call(limiter, "fifth", false).state()).isEqualTo(State.WAITING);
	}

	@ParameterizedTest
	@CsvSource({ "60, 3, REFUSED_DEADLINE", "4, 60, REFUSED_MAX_WAIT", "3, 3, REFUSED_DEADLINE" })
	void aWaitThatTurnsOutLongerThanAllowedEndsWhenThatTimeIsOver(long maxWait, long left, State state) {
		RateLimiter limiter = new RateLimiter(LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED)
			.withRate(60.0, 1)
			.withWaiting(Duration.ofSeconds(maxWait), null), this.time);
		taken(limiter);
		Ticket ticket = limiter.enqueue(permit(), 0, Duration.ofSeconds(left).toNanos(), false,
				() -> this.left.add("told"));
		pause(limiter, Duration.ofSeconds(10).toNanos());
		this.time.runFor(Duration.ofSeconds(Math.min(maxWait, left)).minusNanos(1));
		assertThat(ticket.state()).isEqualTo(State.WAITING);
		this.time.runFor(Duration.ofNanos(1));
		assertThat(ticket.state()).isEqualTo(state);
		assertThat(this.left).containsExactly("told");
		assertThat(limiter.waiting()).isZero();
	}

	@Test
	void whereNobodyMayWaitACallThatFindsNoPlaceIsRefusedAtOnce() {
		RateLimiter limiter = new RateLimiter(
				LimiterSettings.DEFAULTS.withMaxConcurrentCalls(1).withWaiting(Duration.ZERO, null), this.time);
		taken(limiter);
		assertThat(call(limiter, "late", false).state()).isEqualTo(State.REFUSED_MAX_WAIT);
		assertThat(limiter.waiting()).isZero();
	}

	@Test
	void aTurnThatComesWithTheDeadlineIsGranted() {
		RateLimiter limiter = new RateLimiter(marginOf(Duration.ZERO, 60, 1), this.time);
		taken(limiter);
		Ticket ticket = limiter.enqueue(permit(), 0, Duration.ofSeconds(1).toNanos(), false, () -> {
		});
		this.time.runFor(Duration.ofSeconds(1));
		assertThat(ticket.state()).isEqualTo(State.GRANTED);
	}

	@Test
	void whoeverWaitsForAPlaceInFlightIsRefusedAtItsDeadlineToo() {
		RateLimiter limiter = new RateLimiter(LimiterSettings.DEFAULTS.withMaxConcurrentCalls(1), this.time);
		taken(limiter);
		Ticket brief = limiter.enqueue(permit(), 0, Duration.ofSeconds(1).toNanos(), false, () -> {
		});
		Ticket patient = call(limiter, "patient", false);
		this.time.runFor(Duration.ofSeconds(1));
		assertThat(brief.state()).isEqualTo(State.REFUSED_DEADLINE);
		assertThat(patient.state()).isEqualTo(State.WAITING);
	}

	@Test
	void whoeverHasLeftIsNotRefusedAtItsDeadline() {
		RateLimiter limiter = limiter(60, 1);
		taken(limiter);
		call(limiter, "patient", false);
		for (int i = 0; i < 1000; i++) {
			limiter.leave(limiter.enqueue(permit(), 0, HOUR - i, false, () -> this.left.add("told")));
		}
		pause(limiter, HOUR);
		this.time.runFor(Duration.ofHours(1));
		assertThat(this.left).containsExactly("patient");
	}

	@Test
	void openingOfTheBreakerRefusesAllWhoWaitAndTellsThem() {
		RateLimiter limiter = limiter(60, 1);
		call(limiter, "first", false);
		Ticket newcomer = call(limiter, "newcomer", false);
		Ticket retry = call(limiter, "retry", true);
		limiter.refuseWaiting(OWNER);
		assertThat(newcomer.state()).isEqualTo(State.REFUSED_BREAKER);
		assertThat(retry.state()).isEqualTo(State.REFUSED_BREAKER);
		assertThat(this.left).containsExactly("first", "retry", "newcomer");
		assertThat(limiter.waiting()).isZero();
		assertThat(call(limiter, "later", false).state()).isEqualTo(State.WAITING);
	}

	@Test
	void closingRefusesAllWhoWaitAndAllLaterCalls() {
		RateLimiter limiter = limiter(60, 1);
		call(limiter, "first", false);
		Ticket waiting = call(limiter, "waiting", false);
		limiter.close();
		assertThat(waiting.state()).isEqualTo(State.REFUSED_CLOSED);
		this.time.runFor(Duration.ofMinutes(1));
		assertThat(limiter.tryAcquire(permit(), this.time.nanoTime())).isFalse();
		assertThat(call(limiter, "later", false).state()).isEqualTo(State.REFUSED_CLOSED);
	}

	@Test
	void closingRefusesLaterCallsWithoutARateToo() {
		RateLimiter limiter = new RateLimiter(LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF), this.time);
		limiter.close();
		assertThat(limiter.tryAcquire(permit(), 0)).isFalse();
		assertThat(call(limiter, "later", false).state()).isEqualTo(State.REFUSED_CLOSED);
	}

	/* Slots given back. */

	@Test
	void aSlotGivenBackLetsTheNextOut() {
		RateLimiter limiter = limiter(60, 1);
		Permit first = permit();
		assertThat(limiter.tryAcquire(first, 0)).isTrue();
		call(limiter, "second", false);
		this.time.runFor(Duration.ofMillis(100));
		limiter.giveBack(first);
		assertThat(this.left).containsExactly("second");
	}

	@Test
	void slotsGivenBackNeverLiftTheBucketAboveTheBurst() {
		RateLimiter limiter = limiter(600, 5);
		Permit permit = permit();
		assertThat(limiter.tryAcquire(permit, 0)).isTrue();
		for (int i = 0; i < 20; i++) {
			limiter.giveBack(permit);
		}
		assertThat(limiter.level()).isEqualTo(5);
		assertThat(taken(limiter)).isEqualTo(5);
	}

	@Test
	void aSlotGivenBackDoesNotEndAPause() {
		RateLimiter limiter = limiter(600, 5);
		Permit permit = permit();
		assertThat(limiter.tryAcquire(permit, 0)).isTrue();
		pause(limiter, Duration.ofSeconds(10).toNanos());
		limiter.giveBack(permit);
		limiter.giveBack(permit);
		assertThat(limiter.tryAcquire(permit(), this.time.nanoTime())).isFalse();
		this.time.runFor(Duration.ofSeconds(10));
		assertThat(taken(limiter)).isEqualTo(1);
	}

	/* Pauses. */

	@Test
	void aPauseHoldsAllBackAndThenLetsOneOutAndTheOthersFollowAtTheRate() {
		RateLimiter limiter = new RateLimiter(marginOf(Duration.ZERO, 60, 5), this.time);
		pause(limiter, Duration.ofSeconds(10).toNanos());
		for (int i = 0; i < 5; i++) {
			call(limiter, "c" + i, false);
		}
		this.time.runFor(Duration.ofMillis(9999));
		assertThat(this.left).isEmpty();
		this.time.runFor(Duration.ofMillis(1));
		assertThat(this.left).hasSize(1);
		this.time.runFor(Duration.ofSeconds(2));
		assertThat(this.left).hasSize(3);
	}

	@Test
	void aRejectionPausesAFixedRateUntilTheHint() {
		RateLimiter limiter = limiter(600, 5);
		assertThat(limiter.tryAcquire(permit(), 0)).isTrue();
		assertThat(reject(limiter, Duration.ofSeconds(3).toNanos())).isEqualTo(Duration.ofSeconds(3).toNanos());
		this.time.runFor(Duration.ofMillis(2999));
		assertThat(limiter.tryAcquire(permit(), this.time.nanoTime())).isFalse();
		this.time.runFor(Duration.ofMillis(1));
		assertThat(limiter.tryAcquire(permit(), this.time.nanoTime())).isTrue();
	}

	@Test
	void aRejectionThatNamesNoTimePausesAFixedRateForHalfASecondToOne() {
		RateLimiter limiter = limiter(600, 5);
		for (int i = 0; i < 100; i++) {
			assertThat(reject(limiter, -1)).isBetween(500_000_000L, 1_000_000_000L);
		}
	}

	@Test
	void aRateThatIsLearntShows() {
		RateLimiter limiter = new RateLimiter(LimiterSettings.DEFAULTS, this.time);
		assertThat(limiter.requestsPerMinute()).isNull();
		assertThat(limiter.paces()).isTrue();
		reject(limiter, -1);
		assertThat(limiter.requestsPerMinute()).isEqualTo(60);
	}

	@Test
	void aShorterPauseDoesNotShortenALongerOne() {
		RateLimiter limiter = limiter(60, 5);
		pause(limiter, Duration.ofSeconds(10).toNanos());
		pause(limiter, Duration.ofSeconds(1).toNanos());
		this.time.runFor(Duration.ofSeconds(9));
		assertThat(limiter.tryAcquire(permit(), this.time.nanoTime())).isFalse();
		this.time.runFor(Duration.ofSeconds(1));
		assertThat(limiter.tryAcquire(permit(), this.time.nanoTime())).isTrue();
	}

	@Test
	void aPauseMovesThoseWhoWaitAlready() {
		RateLimiter limiter = limiter(60, 1);
		call(limiter, "first", false);
		call(limiter, "second", false);
		pause(limiter, Duration.ofSeconds(30).toNanos());
		this.time.runFor(Duration.ofSeconds(29));
		assertThat(this.left).containsExactly("first");
		this.time.runFor(Duration.ofSeconds(2));
		assertThat(this.left).containsExactly("first", "second");
	}

	/* Network margin. */

	@Test
	void withoutAnAnswerTheFirstPacedCallWaitsForTheNetworkMarginToo() {
		RateLimiter limiter = limiter(60, 1);
		call(limiter, "first", false);
		call(limiter, "second", false);
		this.time.runFor(Duration.ofMillis(1049));
		assertThat(this.left).containsExactly("first");
		this.time.runFor(Duration.ofMillis(1));
		assertThat(this.left).containsExactly("first", "second");
	}

	@Test
	void theFirstAnswerCutsTheNetworkMarginShort() {
		RateLimiter limiter = limiter(60, 1);
		call(limiter, "first", false);
		call(limiter, "second", false);
		this.time.runFor(Duration.ofMillis(20));
		answer(limiter, 0);
		this.time.runFor(Duration.ofMillis(999));
		assertThat(this.left).containsExactly("first");
		this.time.runFor(Duration.ofMillis(1));
		assertThat(this.left).containsExactly("first", "second");
	}

	@Test
	void theFirstAnswerOfABurstCountsForThoseWhoComeLaterToo() {
		RateLimiter limiter = limiter(60, 1);
		call(limiter, "first", false);
		this.time.runFor(Duration.ofMillis(20));
		answer(limiter, 0);
		this.time.runFor(Duration.ofMillis(10));
		call(limiter, "second", false);
		this.time.runFor(Duration.ofMillis(989));
		assertThat(this.left).containsExactly("first");
		this.time.runFor(Duration.ofMillis(1));
		assertThat(this.left).containsExactly("first", "second");
	}

	@Test
	void anAnswerAfterTheMarginChangesNothing() {
		RateLimiter limiter = limiter(60, 1);
		call(limiter, "first", false);
		call(limiter, "second", false);
		this.time.runFor(Duration.ofMillis(500));
		answer(limiter, 0);
		this.time.runFor(Duration.ofMillis(549));
		assertThat(this.left).containsExactly("first");
		this.time.runFor(Duration.ofMillis(1));
		assertThat(this.left).containsExactly("first", "second");
	}

	@Test
	void theAnswerToACallFromBeforeTheBurstDoesNotCount() {
		this.time.runFor(Duration.ofSeconds(10));
		RateLimiter limiter = limiter(60, 1);
		call(limiter, "first", false);
		call(limiter, "second", false);
		answer(limiter, Duration.ofSeconds(9).toNanos());
		this.time.runFor(Duration.ofMillis(1049));
		assertThat(this.left).containsExactly("first");
	}

	@Test
	void theMarginIsChargedOncePerBurst() {
		RateLimiter limiter = limiter(60, 1);
		for (int i = 0; i < 5; i++) {
			call(limiter, "c" + i, false);
		}
		this.time.runFor(Duration.ofMillis(4049));
		assertThat(this.left).hasSize(4);
		this.time.runFor(Duration.ofMillis(1));
		assertThat(this.left).hasSize(5);
	}

	private RateLimiter limiter(double perMinute, int burst) {
		return new RateLimiter(LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(perMinute, burst),
				this.time);
	}

	private static LimiterSettings marginOf(Duration margin, double perMinute, int burst) {
		return LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED)
			.withRate(perMinute, burst)
			.withNetworkMargin(margin);
	}

	/** Makes a call whose name is noted when it may leave or is told. */
	private Ticket call(RateLimiter limiter, String name, boolean retry) {
		Ticket ticket = limiter.enqueue(permit(), this.time.nanoTime(), this.time.nanoTime() + HOUR, retry,
				() -> this.left.add(name));
		if (ticket.state() == State.GRANTED) {
			this.left.add(name);
		}
		return ticket;
	}

	private static Permit permit() {
		return new Permit(OWNER, Priority.NORMAL, 0, false, 0);
	}

	/** At a fixed rate a rejection is a pause. */
	private static void pause(RateLimiter limiter, long nanos) {
		reject(limiter, nanos);
	}

	private static long reject(RateLimiter limiter, long hintNanos) {
		Permit permit = permit();
		limiter.onSend(permit, 0);
		return limiter.onRejected(permit, hintNanos, List.of());
	}

	private static void answer(RateLimiter limiter, long sent) {
		Permit permit = permit();
		limiter.onSend(permit, sent);
		limiter.onSuccess(permit, null);
	}

	private int taken(RateLimiter limiter) {
		int taken = 0;
		while (limiter.tryAcquire(permit(), this.time.nanoTime())) {
			taken++;
		}
		return taken;
	}

}
