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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

/**
 * The rate is set while the limiter runs, or headers lower it.
 */
class RateChangeTests {

	private static final List<LimiterSettings> MODES = List.of(Callers.FIXED, Callers.ADAPTIVE);

	/* Set by hand. */

	/** Ten calls, the first leaves at once; after two more the rate changes. */
	static Stream<Arguments> changes() {
		return MODES.stream()
			.flatMap((mode) -> Stream.of(Arguments.of(mode, 600.0, 0.1), Arguments.of(mode, 120.0, 0.5),
					Arguments.of(mode, 6.0, 10), Arguments.of(mode, 0.6, 100)));
	}

	@ParameterizedTest
	@MethodSource("changes")
	void thoseWhoWaitFollowAtOnce(LimiterSettings mode, double perMinute, double interval) {
		Callers callers = new Callers(mode.withRate(60.0, 1));
		List<Caller> calls = callers.calls(10, Priority.NORMAL, 0);
		callers.pass(2);
		callers.limiter.setRequestsPerMinute(perMinute);
		callers.pass(10 * interval);
		for (int i = 3; i < 10; i++) {
			assertThat(calls.get(i).leftAt).isCloseTo(2 + (i - 2) * interval, within(0.001));
		}
	}

	@ParameterizedTest
	@CsvSource({ "60, 6, 5", "60, 600, 0.05" })
	void whatHasComeHalfWayIsKept(double before, double after, double rest) {
		Callers callers = new Callers(Callers.FIXED.withRate(before, 1));
		callers.call("first");
		Caller next = callers.call("next");
		callers.pass(0.5);
		callers.limiter.setRequestsPerMinute(after);
		callers.pass(20);
		assertThat(next.leftAt).isCloseTo(0.5 + rest, within(0.001));
	}

	static Stream<LimiterSettings> modes() {
		return MODES.stream();
	}

	@ParameterizedTest
	@MethodSource("modes")
	void theNewRateShows(LimiterSettings mode) {
		Callers callers = new Callers(mode.withRate(60.0, null));
		callers.limiter.setRequestsPerMinute(90);
		assertThat(callers.limiter.requestsPerMinute()).isEqualTo(90);
	}

	@ParameterizedTest
	@MethodSource("modes")
	void aRateCanBeSetWhereNoneWas(LimiterSettings mode) {
		Callers callers = new Callers(mode);
		callers.limiter.setRequestsPerMinute(60);
		callers.call("first");
		Caller next = callers.call("next");
		callers.pass(2);
		assertThat(next.leftAt).isEqualTo(1);
	}

	@Test
	void theBurstThatWasNotConfiguredFollowsTheRate() {
		Callers callers = new Callers(Callers.FIXED.withRate(60.0, null));
		callers.limiter.setRequestsPerMinute(600);
		callers.pass(60);
		assertThat(callers.leaveAtOnce(0)).isEqualTo(10);
	}

	@Test
	void theBurstThatWasConfiguredStays() {
		Callers callers = new Callers(Callers.FIXED.withRate(60.0, 3));
		callers.limiter.setRequestsPerMinute(600);
		callers.pass(60);
		assertThat(callers.leaveAtOnce(0)).isEqualTo(3);
	}

	@Test
	void theShareScalesTheNewRateToo() {
		Callers callers = new Callers(Callers.FIXED.withRate(60.0, null).withShare(0.25, null));
		callers.limiter.setRequestsPerMinute(240);
		assertThat(callers.limiter.requestsPerMinute()).isEqualTo(60);
	}

	@Test
	void whatWasLearntIsForgotten() {
		Callers callers = new Callers(Callers.ADAPTIVE.withRate(600.0, null));
		callers.call("rejected").reject(1);
		assertThat(callers.limiter.requestsPerMinute()).isLessThan(600);
		callers.limiter.setRequestsPerMinute(600);
		assertThat(callers.limiter.requestsPerMinute()).isEqualTo(600);
	}

	@Test
	void aLimiterThatIsOffStaysOff() {
		Callers callers = new Callers(LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF));
		callers.limiter.setRequestsPerMinute(60);
		assertThat(callers.limiter.requestsPerMinute()).isNull();
		assertThat(callers.limiter.paces()).isFalse();
	}

	@ParameterizedTest
	@ValueSource(doubles = { 0, -1, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY })
	void aRateThatIsNoneIsRefusedAndChangesNothing(double perMinute) {
		for (LimiterSettings mode : MODES) {
			Callers callers = new Callers(mode.withRate(60.0, 1));
			assertThatIllegalArgumentException().isThrownBy(() -> callers.limiter.setRequestsPerMinute(perMinute))
				.withMessageContaining("requests-per-minute");
			assertThat(callers.limiter.requestsPerMinute()).isEqualTo(60);
		}
	}

	/* Headers at a fixed rate. */

	@Test
	void headersLowerAFixedRate() {
		Callers callers = new Callers(Callers.FIXED.withRate(600.0, 5));
		callers.limiter.onLimits(0, List.of(perSecond(100, 1)));
		assertThat(callers.limiter.requestsPerMinute()).isCloseTo(60, within(1.0));
	}

	@Test
	void headersNeverRaiseAFixedRate() {
		Callers callers = new Callers(Callers.FIXED.withRate(600.0, 5));
		callers.limiter.onLimits(0, List.of(perSecond(1000, 100)));
		assertThat(callers.limiter.requestsPerMinute()).isEqualTo(600);
		assertThat(callers.leaveAtOnce(0)).isEqualTo(5);
	}

	@Test
	void headersThatRiseAgainLiftAFixedRateBackToItsOwn() {
		Callers callers = new Callers(Callers.FIXED.withRate(600.0, 5));
		callers.limiter.onLimits(0, List.of(perSecond(100, 1)));
		callers.limiter.onLimits(1, List.of(perSecond(1000, 100)));
		assertThat(callers.limiter.requestsPerMinute()).isEqualTo(600);
	}

	@Test
	void aFixedLimiterTakesNoMoreThanTheProviderHasLeft() {
		Callers callers = new Callers(Callers.FIXED.withRate(600.0, 20));
		callers.limiter.onLimits(0, List
			.of(new RateLimitSnapshot(Dimension.REQUESTS, 20, 3, Duration.ofMillis(1700), Duration.ofMillis(1))));
		callers.pass(0.001);
		assertThat(callers.leaveAtOnce(0)).isEqualTo(3);
	}

	@Test
	void aLoweredLimitMovesThoseWhoWaitAlready() {
		Callers callers = new Callers(Callers.FIXED.withRate(600.0, 1));
		List<Caller> calls = callers.calls(5, Priority.NORMAL, 0);
		callers.limiter.onLimits(0,
				List.of(new RateLimitSnapshot(Dimension.REQUESTS, 5, 0, Duration.ofSeconds(5), Duration.ofMillis(1))));
		callers.pass(30);
		for (int i = 1; i < 5; i++) {
			assertThat(calls.get(i).leftAt - calls.get(i - 1).leftAt).isCloseTo(1, within(0.15));
		}
	}

	@Test
	void theShareScalesWhatIsAnnounced() {
		Callers callers = new Callers(Callers.ADAPTIVE.withShare(0.25, null));
		callers.limiter.onLimits(0, List.of(perSecond(100, 10)));
		assertThat(callers.limiter.requestsPerMinute()).isCloseTo(150, within(3.0));
		callers.pass(600);
		callers.limiter.onLimits(1, List.of());
		assertThat(callers.leaveAtOnce(0)).isEqualTo(25);
	}

	/* The start. */

	@ParameterizedTest
	@CsvSource({ "0, 0", "3, 3", "20, 20", "50, 20" })
	void soManyMayLeaveAtTheStart(double initialLevel, int calls) {
		Callers callers = new Callers(Callers.FIXED.withRate(600.0, 20).withShare(1, initialLevel));
		assertThat(callers.leaveAtOnce(0)).isEqualTo(calls);
	}

	@Test
	void anEmptyStartFillsAtTheRate() {
		Callers callers = new Callers(Callers.FIXED.withRate(600.0, 20).withShare(1, 0.0));
		callers.pass(1);
		assertThat(callers.limiter.level()).isCloseTo(10, within(0.001));
	}

	@ParameterizedTest
	@CsvSource({ "1, 600, 20", "0.25, 150, 5", "0.01, 6, 1" })
	void theShareScalesTheConfiguredRateAndItsBurst(double share, double perMinute, int burst) {
		Callers callers = new Callers(Callers.FIXED.withRate(600.0, 20).withShare(share, null));
		assertThat(callers.limiter.requestsPerMinute()).isCloseTo(perMinute, within(1e-9));
		assertThat(callers.leaveAtOnce(0)).isEqualTo(burst);
	}

	/** Half of a limit is used, and comes back at a rate. */
	private static RateLimitSnapshot perSecond(double limit, double rate) {
		return new RateLimitSnapshot(Dimension.REQUESTS, limit, Math.floor(limit / 2),
				Duration.ofNanos((long) (Math.ceil(limit / 2) / rate * 1e9)), Duration.ofMillis(1));
	}

}
