package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import dev.llmresilience.Priority;
import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.limiter.Callers.Caller;
import dev.llmresilience.limiter.LimiterSettings.TokenLimits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * What a rejection with a hint does to everybody else: nobody leaves before its time.
 */
class PauseTests {

	private static final double SILENT = -1;

	private static final RateLimitSnapshot NO_REQUESTS_LEFT = new RateLimitSnapshot(Dimension.REQUESTS, 100, 0,
			Duration.ofSeconds(60), Duration.ofMillis(1));

	private static final TokenLimits TOKENS = new TokenLimits(60_000.0, null, null, 1000L);

	static List<LimiterSettings> ofCalls() {
		return List.of(Callers.FIXED.withRate(600.0, 5), Callers.FIXED.withRate(600.0, 1), Callers.ADAPTIVE,
				Callers.ADAPTIVE.withRate(600.0, 20), Callers.ADAPTIVE.withRate(60.0, null));
	}

	static Stream<LimiterSettings> everyMode() {
		return Stream.concat(ofCalls().stream(),
				Stream.of(Callers.FIXED.withTokens(TOKENS), Callers.ADAPTIVE.withTokens(TOKENS)));
	}

	@ParameterizedTest
	@MethodSource("everyMode")
	void nobodyLeavesBeforeTheHintIsOver(LimiterSettings settings) {
		Callers callers = new Callers(settings);
		assertThat(callers.call("rejected").reject(10)).isEqualTo(10);
		callers.calls(5, Priority.NORMAL, 0);
		callers.pass(9.999);
		assertThat(callers.left).containsExactly("rejected");
	}

	@ParameterizedTest
	@MethodSource("ofCalls")
	void whenTheHintIsOverOneLeavesAtOnceAndOnlyOne(LimiterSettings settings) {
		Callers callers = new Callers(settings);
		callers.call("rejected").reject(10);
		callers.calls(5, Priority.NORMAL, 0);
		callers.pass(10);
		assertThat(callers.left).containsExactly("rejected", "NORMAL 0");
	}

	@ParameterizedTest
	@MethodSource("everyMode")
	void thenTheOthersFollow(LimiterSettings settings) {
		Callers callers = new Callers(settings);
		callers.call("rejected").reject(10);
		callers.calls(5, Priority.NORMAL, 0);
		callers.pass(40);
		assertThat(callers.left).hasSize(6);
	}

	static Stream<Arguments> everyModeAndRate() {
		return Stream.of(60.0, 6000.0)
			.flatMap((rate) -> Stream.of(Arguments.of(Callers.FIXED.withRate(600.0, 5), rate),
					Arguments.of(Callers.ADAPTIVE.withRate(600.0, 5), rate)));
	}

	@ParameterizedTest
	@MethodSource("everyModeAndRate")
	void anotherRateNeitherStretchesNorCutsAPause(LimiterSettings settings, double rate) {
		Callers callers = new Callers(settings);
		callers.call("rejected").reject(10);
		callers.limiter.setRequestsPerMinute(rate);
		Caller next = callers.call("next");
		callers.pass(20);
		assertThat(next.leftAt).isEqualTo(10);
	}

	@ParameterizedTest
	@CsvSource({ "10, 3, 10", "3, 10, 10", "10, 0, 10", "10, -1, 10" })
	void theLongestOfSeveralHintsCounts(double first, double second, double expected) {
		Callers callers = new Callers(Callers.ADAPTIVE.withRate(600.0, 5));
		Caller one = callers.call("one");
		Caller two = callers.call("two");
		one.reject(first);
		callers.pass(0.02);
		two.reject(second);
		Caller next = callers.call("next");
		callers.pass(30);
		assertThat(next.leftAt).isCloseTo(expected, within(0.021));
	}

	@ParameterizedTest
	@MethodSource("everyMode")
	void nobodyCanLeaveDuringAPause(LimiterSettings settings) {
		Callers callers = new Callers(settings);
		callers.call("rejected").reject(10);
		callers.pass(5);
		assertThat(callers.leaveAtOnce(0)).isZero();
	}

	@Test
	void thereIsNothingAtHandDuringAPause() {
		Callers callers = new Callers(Callers.ADAPTIVE.withRate(600.0, 20));
		callers.call("rejected").reject(10);
		callers.pass(5);
		assertThat(callers.limiter.level()).isZero();
	}

	@Test
	void aPauseLongerThanAMinuteIsNotForgottenWhenNobodyWaits() {
		Callers callers = new Callers(Callers.ADAPTIVE);
		Caller rejected = callers.call("rejected");
		rejected.reject(100);
		callers.limiter.back(rejected.permit);
		callers.pass(70);
		Caller next = callers.call("next");
		callers.pass(60);
		assertThat(next.leftAt).isEqualTo(100);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aFixedRateOfTokensAlonePausesWhateverTheProviderIsShortOf(boolean said) {
		Callers callers = new Callers(Callers.FIXED.withTokens(TOKENS));
		Caller rejected = callers.call("rejected");
		callers.pass(5);
		rejected.reject(10, said ? new RateLimitSnapshot[] { NO_REQUESTS_LEFT } : new RateLimitSnapshot[0]);
		Caller next = callers.call("next");
		callers.pass(30);
		// What a typical call uses is there at 15 s, and what estimates may lack a little
		// later.
		assertThat(next.leftAt).isBetween(15.0, 16.5);
	}

	@Test
	void aHintThatAnEmptyBucketExplainsHoldsBackOnlyItsOwnCall() {
		Callers callers = new Callers(Callers.ADAPTIVE.withRate(600.0, 5));
		assertThat(callers.call("rejected").reject(1)).isEqualTo(1);
		Caller next = callers.call("next");
		callers.pass(1);
		assertThat(next.leftAt).isLessThanOrEqualTo(0.2);
	}

	@Test
	void aSilentRejectionAtAFixedRatePausesForHalfASecondToOne() {
		Callers callers = new Callers(Callers.FIXED.withRate(600.0, 5));
		callers.call("rejected").reject(SILENT);
		Caller next = callers.call("next");
		callers.pass(2);
		assertThat(next.leftAt).isBetween(0.5, 1.0);
	}

}
