package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.limiter.Callers.Caller;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * Headers of limits that are not the one which counts: of a longer window, or of a window
 * that begins anew all at once.
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
