package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import dev.llmresilience.Priority;
import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.limiter.Callers.Caller;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * Headers that say less than it seems: of limits that are not the one which counts, being
 * of a longer window or of one that begins anew all at once; of little use; and of
 * responses that others have overtaken.
 */
class AnnouncedLimitTests {

	private static final double PER_MINUTE = 30;

	static Stream<LimiterSettings> modes() {
		return Stream.of(Callers.FIXED, Callers.ADAPTIVE);
	}

	/** As Groq counts requests: 14,400 a day, one in six seconds. */
	@ParameterizedTest
	@MethodSource("modes")
	void aDaysLimitWithRoomDoesNotSlowDownWhatIsConfiguredForTheMinute(LimiterSettings mode) {
		Callers callers = new Callers(mode.withRate(PER_MINUTE, null));
		day(callers, 4);
		assertThat(callers.limiter.requestsPerMinute()).isEqualTo(PER_MINUTE);
	}

	@ParameterizedTest
	@MethodSource("modes")
	void norDoesItLetMoreOutThanIsConfiguredForTheMinute(LimiterSettings mode) {
		Callers callers = new Callers(mode.withRate(PER_MINUTE, 5));
		day(callers, 4);
		callers.pass(100);
		for (int i = 1; i <= 50; i++) {
			callers.call("call " + i);
			day(callers, i);
			callers.pass(0.2);
		}
		assertThat(callers.left).hasSizeLessThanOrEqualTo(5 + (int) (10 * PER_MINUTE / 60) + 1);
	}

	/** 4 of 60 a minute were used in 3 seconds. */
	@ParameterizedTest
	@MethodSource("modes")
	void aWindowThatBeginsAnewAllAtOnceDoesNotFreezeHealthyTraffic(LimiterSettings mode) {
		Callers callers = new Callers(mode.withRate(60.0, 1));
		for (int i = 1; i <= 20; i++) {
			callers.call("call " + i);
			callers.limiter.onLimits(callers.time.nanoTime(),
					List.of(snapshot(60, 60 - i, Duration.ofSeconds(60 - i), 1)));
			callers.pass(1.05);
		}
		assertThat(callers.left).hasSize(20);
	}

	@Test
	void aRateThatWhatRemainsDoesNotLastForIsFollowed() {
		Callers callers = new Callers(Callers.ADAPTIVE.withRate(600.0, 10));
		callers.limiter.onLimits(0, List.of(snapshot(20, 2, Duration.ofMillis(4500), 0.001)));
		assertThat(callers.limiter.requestsPerMinute()).isCloseTo(240, within(10.0));
	}

	/** Nothing is configured, and something else than what is announced runs out. */
	@Test
	void a429InSpiteOfRoomIsLearntFrom() {
		Callers callers = new Callers(Callers.ADAPTIVE);
		for (int i = 1; i < 40; i++) {
			callers.call("call " + i);
			day(callers, i);
		}
		Caller caller = callers.call("the last");
		assertThat(callers.left).hasSize(40);
		caller.reject(2, daily(40));
		assertThat(callers.limiter.requestsPerMinute()).as("half of what was lately accepted").isBetween(60.0, 1200.0);
		day(callers, 41);
		assertThat(callers.limiter.level()).as("room that is announced lets nobody out").isLessThan(1);
	}

	@Test
	void whatWasContradictedIsBelievedAgainAfterAMinuteAndThenAfterTwo() {
		Callers callers = new Callers(Callers.ADAPTIVE);
		for (double minutes : new double[] { 1, 2 }) {
			Caller caller = callers.call("rejected");
			day(callers, 40);
			caller.reject(0, daily(40));
			callers.pass(minutes * 60 - 1);
			day(callers, 40);
			assertThat(callers.limiter.requestsPerMinute()).isNotEqualTo(10);
			callers.pass(1);
			day(callers, 40);
			assertThat(callers.limiter.level()).isGreaterThan(14_000);
		}
	}

	/* Little use. */

	static Stream<Arguments> modesAndUnits() {
		return Stream.of(Callers.ADAPTIVE, Callers.ADAPTIVE.withRate(1200.0, 40), Callers.FIXED.withRate(1200.0, 40))
			.flatMap((mode) -> Stream.of(Arguments.of(mode, 0.001), Arguments.of(mode, 1)));
	}

	@ParameterizedTest
	@MethodSource("modesAndUnits")
	void theFirstResponseTellsHowManyMayLeaveAtOnce(LimiterSettings mode, double unit) {
		Callers callers = new Callers(mode);
		callers.call("first");
		callers.limiter.onLimits(callers.time.nanoTime(),
				List.of(snapshot(20, 19, Duration.ofMillis((unit == 1) ? 1000 : 100), unit)));
		assertThat(callers.calls(50, Priority.NORMAL, 0)).filteredOn(Caller::hasLeft).hasSize(19);
	}

	@Test
	void twoRoughBoundsAreAsGoodAsOneThatIsNot() {
		Callers callers = new Callers(Callers.ADAPTIVE);
		callers.limiter.onLimits(0, List.of(snapshot(100, 99, Duration.ofMillis(100), 0.001)));
		callers.limiter.onLimits(1, List.of(snapshot(100, 98, Duration.ofMillis(120), 0.001)));
		assertThat(callers.limiter.requestsPerMinute()).isCloseTo(600, within(60.0));
	}

	@Test
	void aFallShowsInTheNextResponseHoweverLittleIsUsed() {
		Callers callers = new Callers(Callers.ADAPTIVE);
		callers.limiter.onLimits(0, List.of(snapshot(100, 50, Duration.ofMillis(500), 0.001)));
		assertThat(callers.limiter.requestsPerMinute()).isCloseTo(6000, within(100.0));
		callers.limiter.onLimits(1, List.of(snapshot(20, 19, Duration.ofMillis(100), 0.001)));
		assertThat(callers.limiter.requestsPerMinute()).isCloseTo(600, within(10.0));
	}

	/** Whoever has just called cannot be told from whoever was just rejected. */
	@Test
	void aBucketOfOneTellsNoRate() {
		Callers callers = new Callers(Callers.ADAPTIVE);
		callers.limiter.onLimits(0, List.of(snapshot(1, 0, Duration.ofMillis(10), 0.001)));
		assertThat(callers.limiter.requestsPerMinute()).isNull();
	}

	/**
	 * In the first minute of tokens that nobody limits, no room is proven, because those
	 * in flight are not counted yet.
	 */
	@Test
	void aGuessSlowsDownNobodyToWhomRoomCannotBeProven() {
		Callers callers = new Callers(Callers.ADAPTIVE);
		for (int i = 0; i < 30; i++) {
			Caller caller = callers.call("call", 6000);
			callers.limiter.onLimits(callers.time.nanoTime(), List.of(new RateLimitSnapshot(Dimension.TOKENS, 400_000,
					394_000, Duration.ofSeconds(1), Duration.ofSeconds(1))));
			caller.answer(6000, 0);
			callers.pass(1);
		}
		assertThat(callers.limiter.level(Dimension.TOKENS)).isGreaterThan(390_000);
	}

	/* Overtaken. */

	/** It was sent with the others and arrived first, but is answered last. */
	@Test
	void aResponseThatOthersHaveOvertakenProvesNoRoom() {
		Callers callers = new Callers(Callers.ADAPTIVE);
		callers.limiter.onLimits(0, List.of(snapshot(20, 11, Duration.ofSeconds(9), 0.001)));
		callers.pass(0.1);
		List<Caller> calls = callers.calls(11, Priority.NORMAL, 0);
		for (int i = 1; i <= 10; i++) {
			callers.pass(0.01);
			callers.limiter.onLimits(calls.get(i).permit.sent(),
					List.of(snapshot(20, 10 - i, Duration.ofSeconds(10 + i), 0.001)));
			calls.get(i).answer();
		}
		callers.limiter.onLimits(calls.get(0).permit.sent(), List.of(snapshot(20, 10, Duration.ofSeconds(10), 0.001)));
		assertThat(callers.limiter.level()).isLessThan(1);
	}

	/** That the call before had ended is not noted yet. */
	@Test
	void roomIsProvenByAResponseToACallThatWasSentAfterAllOthersHadEnded() {
		Callers callers = new Callers(Callers.ADAPTIVE);
		callers.limiter.onLimits(0, List.of(snapshot(20, 10, Duration.ofSeconds(10), 0.001)));
		callers.calls(5, Priority.NORMAL, 0).forEach(Caller::answer);
		for (int i = 0; i < 2; i++) {
			callers.pass(1.1);
			Caller caller = callers.call("call");
			callers.limiter.onLimits(caller.permit.sent(), List.of(snapshot(20, 15, Duration.ofSeconds(5), 0.001)));
			caller.answer();
		}
		assertThat(callers.limiter.level()).isCloseTo(14, within(0.01));
	}

	private static void day(Callers callers, int used) {
		callers.limiter.onLimits(callers.time.nanoTime(), List.of(daily(used)));
	}

	private static RateLimitSnapshot daily(int used) {
		return snapshot(14_400, 14_400 - used, Duration.ofSeconds(6L * used), 0.001);
	}

	private static RateLimitSnapshot snapshot(double limit, double remaining, Duration reset, double unit) {
		return new RateLimitSnapshot(Dimension.REQUESTS, limit, remaining, reset,
				Duration.ofNanos((long) (unit * 1e9)));
	}

}
