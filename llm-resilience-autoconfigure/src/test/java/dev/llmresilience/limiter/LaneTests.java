package dev.llmresilience.limiter;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;

import dev.llmresilience.Priority;
import dev.llmresilience.limiter.Callers.Caller;
import dev.llmresilience.limiter.Ticket.State;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * Who is next when several wait: shares of the lanes, order within a lane, and what
 * becomes of the place of one who leaves. One call a second, unless said otherwise.
 */
class LaneTests {

	private static final LimiterSettings ONE_A_SECOND = Callers.FIXED.withRate(60.0, 1);

	private final Callers callers = new Callers(ONE_A_SECOND);

	/* Shares. */

	@ParameterizedTest
	@CsvSource({ "HIGH, 16", "NORMAL, 4", "LOW, 1" })
	void ofTwentyOneTurnsThatAllWantEachPriorityGetsItsWeight(Priority priority, int turns) {
		this.callers.call("first");
		for (Priority each : Priority.values()) {
			this.callers.calls(100, each, 0);
		}
		this.callers.pass(21);
		assertThat(leftOf(priority)).isEqualTo(turns);
		this.callers.pass(21);
		assertThat(leftOf(priority)).isEqualTo(2 * turns);
	}

	@ParameterizedTest
	@CsvSource({ "HIGH, NORMAL, 16, 4", "HIGH, LOW, 16, 1", "NORMAL, LOW, 4, 1" })
	void twoPrioritiesShareByTheirWeights(Priority one, Priority other, int ones, int others) {
		this.callers.call("first");
		this.callers.calls(100, other, 0);
		this.callers.calls(100, one, 0);
		this.callers.pass(ones + others);
		assertThat(leftOf(one)).isEqualTo(ones);
		assertThat(leftOf(other)).isEqualTo(others);
	}

	@ParameterizedTest
	@EnumSource
	void aPriorityThatAloneWaitsGetsEveryTurn(Priority priority) {
		this.callers.call("first");
		this.callers.calls(30, priority, 0);
		this.callers.pass(30);
		assertThat(leftOf(priority)).isEqualTo(30);
	}

	@ParameterizedTest
	@CsvSource({ "LOW, HIGH, 1, 16", "HIGH, LOW, 16, 1" })
	void aPriorityThatDidNotWaitBeforeDoesNotCatchUp(Priority before, Priority late, int befores, int lates) {
		this.callers.call("first");
		this.callers.calls(400, before, 0);
		this.callers.pass(170);
		this.callers.calls(100, late, 0);
		int already = leftOf(before);
		this.callers.pass(17);
		assertThat(leftOf(before) - already).isBetween(befores - 1, befores + 1);
		assertThat(leftOf(late)).isBetween(lates - 1, lates + 1);
	}

	@Test
	void aBatchOfFiftyThousandHoldsUpNobodyWhoIsUrgentAndGoesOn() {
		Callers crowd = new Callers(Callers.FIXED.withRate(600.0, null));
		crowd.calls(50_000, Priority.LOW, 0);
		crowd.pass(5);
		List<Caller> urgent = new ArrayList<>();
		long before = crowd.left.size();
		for (int second = 0; second < 60; second++) {
			urgent.add(crowd.call("urgent", Priority.HIGH));
			// At every moment between two slots.
			crowd.pass(1 + 0.1 / 60);
		}
		double longest = urgent.stream().mapToDouble((caller) -> caller.leftAt - born(caller)).max().orElseThrow();
		long batch = crowd.left.size() - before - urgent.size();
		System.out.printf(Locale.ROOT, "50,000 LOW at 10/s, one HIGH a second: longest wait %.2f s, LOW %.1f/s%n",
				longest, batch / 60.0);
		assertThat(longest).isLessThanOrEqualTo(0.3);
		assertThat(batch).isGreaterThanOrEqualTo(300);
	}

	/* Order within a lane. */

	@ParameterizedTest
	@EnumSource
	void newcomersOfAPriorityLeaveInTheOrderOfTheirArrival(Priority priority) {
		this.callers.call("first");
		List<String> names = this.callers.calls(10, priority, 0).stream().map((caller) -> caller.name).toList();
		this.callers.pass(10);
		assertThat(this.callers.left.subList(1, 11)).isEqualTo(names);
	}

	@ParameterizedTest
	@EnumSource
	void aRetryGoesBeforeTheNewcomersOfItsPriority(Priority priority) {
		this.callers.call("first");
		this.callers.calls(3, priority, 0);
		this.callers.retry("retry", priority, 1);
		this.callers.pass(2);
		assertThat(this.callers.left).containsExactly("first", "retry", priority + " 0");
	}

	@Test
	void aRetryDoesNotGoBeforeNewcomersOfAHigherPriority() {
		this.callers.call("first");
		this.callers.calls(16, Priority.HIGH, 0);
		this.callers.retry("retry", Priority.NORMAL, 1);
		this.callers.pass(6);
		assertThat(this.callers.left.indexOf("retry")).isBetween(2, 5);
	}

	@Test
	void ofSeveralRetriesTheOldestCallGoesFirst() {
		this.callers.pass(100);
		this.callers.call("first");
		this.callers.retry("of 10 s ago", Priority.NORMAL, 10);
		this.callers.retry("of 30 s ago", Priority.NORMAL, 30);
		this.callers.retry("of 20 s ago", Priority.NORMAL, 20);
		this.callers.pass(3);
		assertThat(this.callers.left).containsExactly("first", "of 30 s ago", "of 20 s ago", "of 10 s ago");
	}

	/* Those who leave before their turn. */

	@Test
	void tenOfAThousandWhoLeaveCostNobodyASlotAndChangeNoOrder() {
		Callers crowd = new Callers(Callers.FIXED.withRate(6000.0, 1));
		List<Caller> waiting = new ArrayList<>(crowd.calls(1001, Priority.NORMAL, 0));
		List<Caller> leavers = new ArrayList<>(waiting.subList(1, 1001));
		Collections.shuffle(leavers, new Random(1));
		leavers.subList(0, 10).forEach((leaver) -> assertThat(crowd.limiter.leave(leaver.ticket())).isTrue());
		crowd.pass(9.9);
		waiting.removeAll(leavers.subList(0, 10));
		assertThat(crowd.left).isEqualTo(waiting.stream().map((caller) -> caller.name).toList());
		assertThat(waiting.get(waiting.size() - 1).leftAt).isEqualTo(9.9);
	}

	@Test
	void whoLeavesFromTheHeadPassesItsTurnOn() {
		this.callers.call("first");
		Caller head = this.callers.call("head");
		Caller next = this.callers.call("next");
		this.callers.pass(0.5);
		this.callers.limiter.leave(head.ticket());
		this.callers.pass(0.5);
		assertThat(next.leftAt).isEqualTo(1);
	}

	@Test
	void whenTheLastOfALaneLeavesTheOthersKeepTheirTurns() {
		this.callers.call("first");
		Caller urgent = this.callers.call("urgent", Priority.HIGH);
		Caller normal = this.callers.call("normal");
		this.callers.limiter.leave(urgent.ticket());
		this.callers.pass(1);
		assertThat(normal.leftAt).isEqualTo(1);
	}

	@Test
	void anOpenBreakerRefusesOnlyTheCallsOfItsOwnEntry() {
		this.callers.call("first");
		Caller refused = this.callers.callOf("a", "a");
		Caller stays = this.callers.callOf("b", "b");
		this.callers.limiter.refuseWaiting("a");
		this.callers.pass(1);
		assertThat(refused.ticket().state()).isEqualTo(State.REFUSED_BREAKER);
		assertThat(stays.leftAt).isEqualTo(1);
		assertThat(this.callers.limiter.waiting()).isZero();
	}

	@Test
	void anOpenBreakerRefusesAllPrioritiesAndRetries() {
		this.callers.call("first");
		List<Caller> waiting = new ArrayList<>();
		for (Priority priority : Priority.values()) {
			waiting.addAll(this.callers.calls(3, priority, 0));
			waiting.add(this.callers.retry("retry", priority, 1));
		}
		this.callers.limiter.refuseWaiting(Callers.OWNER);
		assertThat(waiting)
			.allSatisfy((caller) -> assertThat(caller.ticket().state()).isEqualTo(State.REFUSED_BREAKER));
	}

	/* What a place would mean. */

	@ParameterizedTest
	@CsvSource({ "HIGH, 1", "NORMAL, 1", "LOW, 101" })
	void theWaitThatIsNamedFollowsThePriority(Priority priority, double seconds) {
		this.callers.call("first");
		this.callers.calls(100, Priority.LOW, 0);
		Caller caller = this.callers.call("new", priority);
		assertThat(caller.ticket().neededNanos() / 1e9).isCloseTo(seconds, within(0.01));
	}

	private int leftOf(Priority priority) {
		return (int) this.callers.left.stream().filter((name) -> name.startsWith(priority.name())).count();
	}

	private static double born(Caller caller) {
		return caller.permit.born / 1e9;
	}

}
