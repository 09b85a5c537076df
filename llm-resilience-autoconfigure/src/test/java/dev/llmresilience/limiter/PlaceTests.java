package dev.llmresilience.limiter;

import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

import dev.llmresilience.Priority;
import dev.llmresilience.limiter.Callers.Caller;
import dev.llmresilience.limiter.LimiterSettings.TokenLimits;
import dev.llmresilience.limiter.Ticket.State;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Places in flight: how many calls may be on their way at once.
 */
class PlaceTests {

	private final Callers callers = new Callers(Callers.FIXED.withMaxConcurrentCalls(2));

	@Test
	void noMoreCallsLeaveThanThereArePlaces() {
		List<Caller> calls = this.callers.calls(5, Priority.NORMAL, 0);
		this.callers.pass(3600);
		assertThat(calls).filteredOn(Caller::hasLeft).hasSize(2);
		assertThat(this.callers.limiter.inFlight()).isEqualTo(2);
		assertThat(this.callers.limiter.waiting()).isEqualTo(3);
	}

	static Stream<Arguments> ends() {
		return Stream.of(end("success", (caller, limiter) -> caller.answer()),
				end("success with its usage", (caller, limiter) -> caller.answer(10, 10)),
				end("failure", (caller, limiter) -> limiter.onFailure(caller.permit, true)),
				end("failure before anything was used", (caller, limiter) -> limiter.onFailure(caller.permit, false)),
				end("rejection", (caller, limiter) -> caller.reject(0)),
				end("no request", (caller, limiter) -> limiter.giveBack(caller.permit)));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("ends")
	void whateverBecomesOfACallItsPlaceIsFreeForTheNextAtOnce(String end, BiConsumer<Caller, RateLimiter> how) {
		List<Caller> calls = this.callers.calls(4, Priority.NORMAL, 0);
		this.callers.pass(1);
		how.accept(calls.get(0), this.callers.limiter);
		assertThat(calls.get(2).leftAt).isEqualTo(1);
		assertThat(calls.get(3).hasLeft()).isFalse();
		assertThat(this.callers.limiter.inFlight()).isEqualTo(2);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("ends")
	void aPlaceIsGivenBackOnlyOnce(String end, BiConsumer<Caller, RateLimiter> how) {
		List<Caller> calls = this.callers.calls(2, Priority.NORMAL, 0);
		how.accept(calls.get(0), this.callers.limiter);
		this.callers.limiter.giveBack(calls.get(0).permit);
		assertThat(this.callers.limiter.inFlight()).isEqualTo(1);
	}

	@Test
	void theNextAttemptOfACallTakesAPlaceAgain() {
		Caller caller = this.callers.call("call");
		this.callers.limiter.onFailure(caller.permit, true);
		assertThat(this.callers.limiter.inFlight()).isZero();
		caller.join(true);
		assertThat(this.callers.limiter.inFlight()).isEqualTo(1);
	}

	/** One place, in use, and five refusals. */
	@Test
	void aRefusalFreesNobodyElsesPlace() {
		Callers crowd = new Callers(Callers.FIXED.withMaxConcurrentCalls(1).withWaiting(null, 0));
		crowd.call("first");
		for (int i = 0; i < 5; i++) {
			assertThat(crowd.call("refused").ticket().state()).isEqualTo(State.REFUSED_MAX_WAITING);
		}
		assertThat(crowd.limiter.inFlight()).isEqualTo(1);
	}

	@Test
	void aWaiterThatLeavesFreesNobodyElsesPlace() {
		this.callers.calls(2, Priority.NORMAL, 0);
		this.callers.limiter.leave(this.callers.call("leaver").ticket());
		assertThat(this.callers.limiter.inFlight()).isEqualTo(2);
	}

	@Test
	void waitingForAPlaceTakesNothingOfTheRate() {
		Callers crowd = new Callers(Callers.FIXED.withRate(60.0, 5).withMaxConcurrentCalls(1));
		crowd.calls(5, Priority.NORMAL, 0);
		assertThat(crowd.limiter.level()).isEqualTo(4);
	}

	@Test
	void waitingForTheRateTakesNoPlace() {
		Callers crowd = new Callers(Callers.FIXED.withRate(60.0, 1).withMaxConcurrentCalls(3));
		crowd.calls(5, Priority.NORMAL, 0);
		assertThat(crowd.limiter.inFlight()).isEqualTo(1);
	}

	@Test
	void bothTheRateAndThePlacesHold() {
		Callers crowd = new Callers(Callers.FIXED.withRate(60.0, 1).withMaxConcurrentCalls(2));
		List<Caller> calls = crowd.calls(4, Priority.NORMAL, 0);
		crowd.pass(10);
		assertThat(crowd.left).hasSize(2);
		calls.get(0).answer();
		assertThat(crowd.left).hasSize(3);
		crowd.pass(10);
		assertThat(crowd.left).hasSize(3);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void placesAreLimitedWithOrWithoutARate(boolean adaptive) {
		Callers crowd = new Callers((adaptive ? Callers.ADAPTIVE : Callers.FIXED).withMaxConcurrentCalls(1));
		crowd.calls(3, Priority.NORMAL, 0);
		assertThat(crowd.left).hasSize(1);
	}

	@Test
	void aLimiterThatIsOffLimitsNoPlaces() {
		Callers crowd = new Callers(LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF).withMaxConcurrentCalls(1));
		crowd.calls(3, Priority.NORMAL, 0);
		assertThat(crowd.left).hasSize(3);
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, -1 })
	void fewerPlacesThanOneAreRefused(int places) {
		assertThatIllegalArgumentException().isThrownBy(() -> new Callers(Callers.FIXED.withMaxConcurrentCalls(places)))
			.withMessageContaining("max-concurrent-calls");
	}

	/* Nested calls. */

	@Test
	void aNestedCallUsesThePlaceOfTheCallAroundIt() {
		this.callers.calls(2, Priority.NORMAL, 0);
		assertThat(this.callers.nestedCall("nested").hasLeft()).isTrue();
		assertThat(this.callers.limiter.inFlight()).isEqualTo(2);
	}

	@Test
	void theEndOfANestedCallLeavesThePlaceToTheCallAroundIt() {
		this.callers.calls(2, Priority.NORMAL, 0);
		this.callers.nestedCall("nested").answer();
		assertThat(this.callers.limiter.inFlight()).isEqualTo(2);
	}

	@Test
	void aNestedCallDoesNotWaitForThoseWhoWaitForThePlaceOfTheCallAroundIt() {
		this.callers.calls(5, Priority.NORMAL, 0);
		assertThat(this.callers.nestedCall("nested").hasLeft()).isTrue();
	}

	@Test
	void aNestedCallThatWaitsForTheRateIsNextHoweverManyWaitForAPlace() {
		Callers crowd = new Callers(Callers.FIXED.withRate(60.0, 1).withMaxConcurrentCalls(1));
		crowd.call("outer");
		crowd.calls(5, Priority.HIGH, 0);
		Caller nested = crowd.nestedCall("nested");
		crowd.pass(2);
		assertThat(nested.leftAt).isEqualTo(1);
	}

	@Test
	void soIsTheSecondNestedCallOfTheSameCall() {
		Callers crowd = new Callers(Callers.FIXED.withRate(60.0, 1).withMaxConcurrentCalls(1));
		crowd.call("outer");
		crowd.calls(5, Priority.HIGH, 0);
		crowd.nestedCall("first");
		crowd.pass(1);
		Caller second = crowd.nestedCall("second");
		crowd.pass(2);
		assertThat(second.leftAt).isEqualTo(2);
	}

	@Test
	void aNestedCallThatWaitsForTokensIsNextToo() {
		Callers crowd = new Callers(
				Callers.FIXED.withTokens(new TokenLimits(60_000.0, null, null, 10_000L)).withMaxConcurrentCalls(1));
		crowd.call("outer", 40_000);
		crowd.calls(5, Priority.HIGH, 100);
		Caller nested = crowd.nestedCall("nested");
		crowd.pass(60);
		assertThat(nested.hasLeft()).isTrue();
	}

	private static Arguments end(String name, BiConsumer<Caller, RateLimiter> how) {
		return Arguments.of(name, how);
	}

}
