package dev.llmresilience.limiter;

import java.util.List;
import java.util.Locale;

import dev.llmresilience.Priority;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.limiter.Callers.Caller;
import dev.llmresilience.limiter.LimiterSettings.TokenLimits;
import dev.llmresilience.limiter.Ticket.State;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * Estimates are charged before a call and settled after it. Of a limit of 60,000 tokens a
 * minute 1,000 come back in a second, and estimates count half as high again until calls
 * have settled.
 */
class TokenTests {

	private static final double PER_MINUTE = 60_000;

	private static final double COLD = 1.5;

	/* Charging. */

	@Test
	void aCallIsChargedItsEstimateHalfAsHighAgainWhileNothingIsKnown() {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(PER_MINUTE, null, null, null)));
		assertThat(callers.call("call", 2000).permit.charged(1)).isEqualTo(2000 * COLD);
		assertThat(used(callers)).isCloseTo(2000 * COLD, within(1.0));
	}

	@Test
	void aCallThatNobodyEstimatedIsChargedDefaultTokens() {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(PER_MINUTE, null, null, 400L)));
		assertThat(callers.call("unknown").permit.tokens).isEqualTo(400);
	}

	@Test
	void withoutDefaultTokensItIsChargedTheMeanOfWhatCallsHaveLatelyUsed() {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(6_000_000.0, null, null, null)));
		for (int i = 0; i < 200; i++) {
			callers.call("call").answer((i % 2 == 0) ? 200 : 400, 0);
		}
		assertThat(callers.call("unknown").permit.tokens).isCloseTo(300, within(20.0));
	}

	@Test
	void thoseWhoWaitWithoutAnEstimateCountToo() {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(PER_MINUTE, null, null, 1000L)));
		callers.leaveAtOnce(0);
		callers.calls(10, Priority.NORMAL, 0);
		double wait = callers.call("new").ticket().neededNanos() / 1e9;
		// Ten calls of 1,500 tokens at 1,000 a second, and its own.
		assertThat(wait).isBetween(15.0, 17.5);
	}

	@Test
	void estimatesOfThoseWhoHaveLeftDoNotCount() {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(PER_MINUTE, null, null, 1000L)));
		callers.leaveAtOnce(0);
		callers.calls(10, Priority.NORMAL, 0).forEach((caller) -> callers.limiter.leave(caller.ticket()));
		callers.call("first");
		double wait = callers.call("new").ticket().neededNanos() / 1e9;
		assertThat(wait).isBetween(1.5, 4.0);
	}

	/* Settling. */

	@ParameterizedTest
	@CsvSource({ "100, 0", "2000, 1000", "3000, 0", "5000, 5000" })
	void theTrueUsageTakesThePlaceOfTheEstimate(long input, long output) {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(PER_MINUTE, null, null, null)));
		Caller caller = callers.call("call", 2000);
		caller.answer(input, output);
		assertThat(used(callers)).isCloseTo((double) (input + output), within(1.0));
	}

	@Test
	void aCallThatUsedMoreThanThereIsLeavesADebtThatTheNextWaitsFor() {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(PER_MINUTE, null, null, null)));
		callers.call("call", 2000).answer(70_000, 0);
		assertThat(callers.call("next", 10).ticket().neededNanos() / 1e9).isGreaterThanOrEqualTo(10);
	}

	@Test
	void anUnknownUsageLeavesTheEstimate() {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(PER_MINUTE, null, null, null)));
		callers.call("call", 2000).answer();
		assertThat(used(callers)).isCloseTo(3000, within(1.0));
	}

	@ParameterizedTest
	@CsvSource({ "true, 3000", "false, 0" })
	void aFailureBeforeAnythingWasUsedGivesTheEstimateBack(boolean counted, double used) {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(PER_MINUTE, null, null, null)));
		callers.limiter.onFailure(callers.call("call", 2000).permit, counted);
		assertThat(used(callers)).isCloseTo(used, within(1.0));
	}

	@Test
	void aCallThatIsNotSentAfterAllGivesTheEstimateBack() {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(PER_MINUTE, null, null, null)));
		Permit permit = permit(2000);
		callers.limiter.tryAcquire(permit, 0);
		callers.limiter.giveBack(permit);
		assertThat(used(callers)).isZero();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aRejectionForTheRateOfCallsGivesTheTokensBackEvenDuringThePauseThatItMeans(boolean fixed) {
		Callers callers = new Callers((fixed ? Callers.FIXED : Callers.ADAPTIVE).withRate(600.0, 10)
			.withTokens(new TokenLimits(PER_MINUTE, null, null, null)));
		List<Caller> calls = callers.calls(10, Priority.NORMAL, 2000);
		assertThat(used(callers)).isCloseTo(30_000, within(1.0));
		calls.forEach((caller) -> caller.reject(5));
		callers.pass(5);
		assertThat(used(callers)).isZero();
	}

	/** Three calls reserve 100, 200 and 300 at the same time and use 50 each. */
	@Test
	void estimatesOfConcurrentCallsAreSettledEachForItself() {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(PER_MINUTE, null, null, null)));
		List<Caller> calls = List.of(callers.call("a", 100), callers.call("b", 200), callers.call("c", 300));
		assertThat(used(callers)).isCloseTo(600 * COLD, within(1.0));
		calls.forEach((call) -> call.answer(50, 0));
		assertThat(used(callers)).isCloseTo(150, within(1.0));
	}

	/* Sizes. */

	@ParameterizedTest
	@CsvSource({ "100, 200", "100, 101", "60000, 1000000" })
	void aCallLargerThanTheWholeLimitIsRefusedAtOnceAndTakesNothing(double perMinute, long tokens) {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(perMinute, null, null, null)));
		for (int i = 0; i < 10; i++) {
			assertThat(callers.call("large", tokens).ticket().state()).isEqualTo(State.REFUSED_TOO_LARGE);
		}
		assertThat(callers.call("as large as that", (long) perMinute).hasLeft()).isTrue();
	}

	@Test
	void aCallWhoseScaledEstimateIsAboveTheLimitLeavesOnceTheBucketIsFull() {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(PER_MINUTE, null, null, null)));
		assertThat(callers.call("small", 1000).hasLeft()).isTrue();
		Caller large = callers.call("large", 50_000);
		callers.pass(1.4);
		assertThat(large.hasLeft()).isFalse();
		callers.pass(0.2);
		assertThat(large.hasLeft()).isTrue();
	}

	@Test
	void tenRefusalsLeaveWhatThereIsAsItWas() {
		Callers callers = new Callers(
				Callers.FIXED.withTokens(new TokenLimits(PER_MINUTE, null, null, null)).withWaiting(null, 0));
		callers.call("first", 30_000);
		for (int i = 0; i < 10; i++) {
			assertThat(callers.call("refused", 30_000).ticket().state()).isEqualTo(State.REFUSED_MAX_WAITING);
		}
		assertThat(used(callers)).isCloseTo(45_000, within(1.0));
	}

	/* Kinds of tokens. */

	@ParameterizedTest
	@CsvSource({ "900, 100", "100, 900", "500, 500" })
	void inputAndOutputLearnTheirOwnShareOfTheEstimate(long input, long output) {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(null, 6_000_000.0, 6_000_000.0, null)));
		for (int i = 0; i < 300; i++) {
			callers.call("call", 1000).answer(input, output);
		}
		Permit next = callers.call("next", 1000).permit;
		assertThat(next.charged(2)).isCloseTo((double) input, within(20.0));
		assertThat(next.charged(3)).isCloseTo((double) output, within(20.0));
	}

	@Test
	void aCallThatNobodyEstimatedIsNeverTooLarge() {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(500.0, null, null, null)));
		assertThat(callers.call("call").hasLeft()).isTrue();
	}

	@Test
	void anEstimateLargerThanALimitOnAnswersHoldsNobodyUpForLongerThanAFullBucket() {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(null, null, 10_000.0, null)));
		assertThat(callers.call("large", Long.MAX_VALUE).hasLeft()).isTrue();
		Caller next = callers.call("next", 100);
		callers.pass(61);
		assertThat(next.hasLeft()).isTrue();
	}

	@Test
	void estimatesThatAreAlwaysWrongTheSameWayAreScaled() {
		Callers callers = new Callers(Callers.FIXED.withTokens(new TokenLimits(6_000_000.0, null, null, null)));
		for (int i = 0; i < 300; i++) {
			callers.call("call", 1000).answer(250, 0);
		}
		assertThat(callers.call("next", 1000).permit.charged(1)).isCloseTo(250, within(10.0));
	}

	@ParameterizedTest
	@CsvSource({ "6000, 60000", "60000, 6000" })
	void theTighterOfTwoLimitsPaces(double inputPerMinute, double outputPerMinute) {
		Callers callers = new Callers(
				Callers.FIXED.withTokens(new TokenLimits(null, inputPerMinute, outputPerMinute, null)));
		int before = callers.leaveAtOnce(100);
		callers.calls(100, Priority.NORMAL, 100);
		callers.pass(15);
		// 100 tokens come in a second, and 150 are charged for each call.
		assertThat(callers.left.size() - before).isBetween(9, 11);
	}

	/** Of 15,000 tokens a minute one call's are left, and one call's come in 4 s. */
	@ParameterizedTest
	@EnumSource(names = { "FIXED", "ADAPTIVE" })
	void fifteenCallsOfWhichTokensAllowOneInFourSecondsAllGetThroughWithoutARejection(LimiterMode mode) {
		World world = new World(1);
		world.limit(Dimension.TOKENS, 15_000, 250).left(1000);
		RateLimiter limiter = world.limiter(LimiterSettings.DEFAULTS.withMode(mode)
			.withTokens(new TokenLimits(15_000.0, null, null, 1000L))
			.withShare(1, 0.0));
		for (int i = 0; i < 15; i++) {
			world.call(limiter, 0, Priority.NORMAL, 0, 1000);
		}
		world.run(120);
		System.out.printf(Locale.ROOT, "15 calls, one in 4 s, %s: last answer after %.1f s%n", mode,
				world.lastAnswer());
		assertThat(world.lost()).isZero();
		assertThat(world.rejections).isZero();
		assertThat(world.lastAnswer()).isBetween(56.0, 70.0);
	}

	private static Permit permit(long tokens) {
		return new Permit(Callers.OWNER, Priority.NORMAL, tokens, false, 0);
	}

	/** What is missing in the bucket: how long a call that needs all of it would wait. */
	private static double used(Callers callers) {
		Permit all = permit((long) PER_MINUTE);
		long now = callers.time.nanoTime();
		Ticket ticket = callers.limiter.enqueue(all, now, now - 1, false, () -> {
		});
		if (ticket.state() == State.GRANTED) {
			callers.limiter.giveBack(all);
		}
		return ticket.neededNanos() / 1e9 * PER_MINUTE / 60;
	}

}
