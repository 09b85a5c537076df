package dev.llmresilience.breaker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import dev.llmresilience.FailureKind;
import dev.llmresilience.breaker.CircuitBreaker.Permit;
import dev.llmresilience.breaker.RoomTicket.State;
import dev.llmresilience.test.VirtualTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class WaitingRoomTests {

	private static final Duration OPEN = Duration.ofSeconds(10);

	private static final Duration TRIAL_TIMEOUT = Duration.ofSeconds(60);

	private static final Duration LONG = Duration.ofHours(1);

	private final CountedTimers time = new CountedTimers(new VirtualTime(1));

	private final CircuitBreaker breaker = new CircuitBreaker("p",
			new BreakerSettings(3, null, 100, null, OPEN, Duration.ofMinutes(5), TRIAL_TIMEOUT), this.time,
			this::onTransition);

	private final WaitingRoom room = new WaitingRoom(this.breaker, this.time);

	/** Who was told that the wait is over, in this order. */
	private final List<String> told = new ArrayList<>();

	private @Nullable RuntimeException listenerFails;

	private void onTransition(BreakerTransition transition) {
		if (this.listenerFails != null) {
			throw this.listenerFails;
		}
	}

	@Test
	void aCallWaitsUntilTheTrialIsDue() {
		open();
		RoomTicket ticket = join("a");
		pass(OPEN.minusNanos(1));
		assertThat(ticket.state()).isEqualTo(State.WAITING);
		pass(Duration.ofNanos(1));
		assertThat(ticket.state()).isEqualTo(State.ADMITTED);
		assertThat(this.told).containsExactly("a");
		assertThat(permit().isTrial()).isTrue();
	}

	@Test
	void whoeverFindsTheTrialDueIsLetInAtOnceAndNotTold() {
		open();
		pass(OPEN);
		assertThat(join("a").state()).isEqualTo(State.ADMITTED);
		assertThat(this.told).isEmpty();
	}

	@Test
	void oneIsLetInForATrialHoweverManyWait() {
		open();
		join("a");
		join("b");
		pass(OPEN);
		join("c");
		assertThat(this.told).containsExactly("a");
		Permit trial = permit();
		pass(Duration.ofSeconds(59));
		assertThat(this.told).containsExactly("a");
		assertThat(trial.holdsTrial()).isTrue();
	}

	@Test
	void trialsRotateAmongThoseWhoWait() {
		open();
		RoomTicket a = join("a");
		RoomTicket b = join("b");
		join("c");
		pass(OPEN);
		trialFails(a);
		join("a");
		pass(OPEN.multipliedBy(2));
		trialFails(b);
		join("b");
		pass(OPEN.multipliedBy(4));
		this.breaker.close();
		assertThat(this.told).containsExactly("a", "b", "c", "a");
	}

	@Test
	void oneThatGotNoPermitKeepsItsPlace() {
		open();
		RoomTicket a = join("a");
		join("b");
		pass(OPEN);
		// The trial went to a call that never was in the room.
		Permit stray = permit();
		this.room.rejoin(a, () -> this.told.add("a again"));
		assertThat(a.state()).isEqualTo(State.ENDED);
		fail(stray);
		pass(OPEN.multipliedBy(2));
		assertThat(this.told).containsExactly("a", "a again");
	}

	@Test
	void aTicketThatHasEndedGivesNoRightToItsPlace() {
		open();
		RoomTicket a = join("a");
		join("b");
		pass(OPEN);
		trialFails(a);
		this.room.rejoin(a, () -> this.told.add("a again"));
		this.room.rejoin(a, () -> this.told.add("and again"));
		this.breaker.close();
		assertThat(this.told).containsExactly("a", "b");
		assertThat(this.room.waiting()).isEqualTo(2);
	}

	@Test
	void aTrialWithoutVerdictLetsTheNextInAtOnce() {
		open();
		RoomTicket a = join("a");
		join("b");
		pass(OPEN);
		permit().neutral();
		this.room.ended(a, false);
		assertThat(this.told).containsExactly("a", "b");
	}

	@Test
	void oneThatNeverAskedForItsPermitLetsTheNextInOnceItSaysSo() {
		open();
		RoomTicket a = join("a");
		join("b");
		pass(OPEN);
		this.room.ended(a, false);
		assertThat(this.told).containsExactly("a", "b");
	}

	@Test
	void aSuccessThatTheBreakerDoesNotKnowOfMakesNoRoomForTwoTrials() {
		open();
		RoomTicket a = join("a");
		join("b");
		RoomTicket c = join("c");
		join("d");
		join("e");
		pass(OPEN);
		this.room.ended(a, true);
		assertThat(this.told).containsExactly("a", "b");
		permit().neutral();
		assertThat(this.told).containsExactly("a", "b", "c");
		this.room.ended(c, true);
		assertThat(this.told).containsExactly("a", "b", "c", "d");
	}

	@ParameterizedTest
	@CsvSource({ "success, a", "neutral, a", "failure, " })
	void aTrialOfACallThatNeverWasInTheRoomIsHeardOf(String outcome, @Nullable String letIn) {
		open();
		pass(OPEN);
		Permit stray = permit();
		join("a");
		assertThat(this.told).isEmpty();
		switch (outcome) {
			case "success" -> stray.success();
			case "neutral" -> stray.neutral();
			default -> fail(stray);
		}
		assertThat(this.told).isEqualTo((letIn != null) ? List.of(letIn) : List.of());
	}

	@Test
	void aTrialThatHangsLosesItsTurnAfterTheTrialTimeout() {
		open();
		RoomTicket a = join("a");
		join("b");
		join("c");
		pass(OPEN);
		pass(Duration.ofSeconds(20));
		Permit hanging = permit();
		pass(TRIAL_TIMEOUT.minusNanos(1));
		assertThat(this.told).containsExactly("a");
		pass(Duration.ofNanos(1));
		assertThat(this.told).containsExactly("a", "b");
		assertThat(hanging.holdsTrial()).as("nobody has taken its place yet").isTrue();
		Permit next = permit();
		hanging.success();
		this.room.ended(a, true);
		assertThat(this.told).as("it is no longer the trial").containsExactly("a", "b");
		next.success();
		assertThat(this.told).containsExactly("a", "b", "c");
	}

	@Test
	void oneThatNeitherAsksForItsPermitNorReportsLosesItsTurnToo() {
		open();
		join("a");
		join("b");
		pass(OPEN.plus(TRIAL_TIMEOUT));
		assertThat(this.told).containsExactly("a", "b");
	}

	@Test
	void afterClosingTheyAreLetIn1And2And4And8AtATime() {
		open();
		Map<Long, Integer> started = new TreeMap<>();
		for (int i = 0; i < 30; i++) {
			start(started);
		}
		assertThat(this.room.waiting()).isEqualTo(30);
		pass(Duration.ofMinutes(1));
		assertThat(started).containsExactly(Map.entry(10L, 1), Map.entry(11L, 1), Map.entry(12L, 2), Map.entry(13L, 4),
				Map.entry(14L, 8), Map.entry(15L, 14));
		assertThat(this.room.waiting()).isZero();
	}

	/** Starts a call that takes a second and succeeds. */
	private void start(Map<Long, Integer> started) {
		CompletableFuture<RoomTicket> ticket = new CompletableFuture<>();
		ticket.complete(this.room.join(deadline(LONG), () -> {
			started.merge(this.time.elapsed().toSeconds(), 1, Integer::sum);
			Permit permit = permit();
			this.time.schedule(Duration.ofSeconds(1).toNanos(), () -> {
				permit.success();
				this.room.ended(ticket.join(), true);
			});
		}));
	}

	@Test
	void afterClosingAFailureLetsOneInForOne() {
		List<RoomTicket> tickets = closeWithWaiting(6);
		assertThat(this.told).containsExactly("1");
		fail(permit());
		this.room.ended(tickets.get(0), false);
		assertThat(this.told).containsExactly("1", "2");
		permit().success();
		this.room.ended(tickets.get(1), true);
		assertThat(this.told).containsExactly("1", "2", "3", "4");
		fail(permit());
		this.room.ended(tickets.get(2), false);
		assertThat(this.told).containsExactly("1", "2", "3", "4", "5");
	}

	@Test
	void anEndThatIsReportedTwiceCountsOnce() {
		List<RoomTicket> tickets = closeWithWaiting(6);
		this.room.ended(tickets.get(0), true);
		this.room.ended(tickets.get(0), true);
		assertThat(this.told).containsExactly("1", "2", "3");
	}

	@Test
	void afterClosingOneThatHangsDoesNotHoldUpTheOthers() {
		List<RoomTicket> tickets = closeWithWaiting(6);
		pass(TRIAL_TIMEOUT);
		assertThat(this.told).containsExactly("1", "2");
		this.room.ended(tickets.get(0), true);
		assertThat(this.told).as("it has answered after all").containsExactly("1", "2", "3");
		this.room.ended(tickets.get(1), false);
		assertThat(this.told).containsExactly("1", "2", "3", "4");
	}

	@Test
	void thoseWhoAreStillThereWhenItOpensAgainWaitForTheNextTrial() {
		List<RoomTicket> tickets = closeWithWaiting(9);
		this.room.ended(tickets.get(0), true);
		assertThat(this.told).containsExactly("1", "2", "3");
		open();
		this.room.ended(tickets.get(1), true);
		this.room.ended(tickets.get(2), true);
		assertThat(this.told).as("what those before report changes nothing").containsExactly("1", "2", "3");
		pass(OPEN);
		assertThat(this.told).containsExactly("1", "2", "3", "4");
		permit().success();
		assertThat(this.told).as("one at first, again").containsExactly("1", "2", "3", "4", "5");
	}

	@Test
	void thoseBeforeWhoHaveNotEndedDoNotKeepTheNextTrialWaiting() {
		closeWithWaiting(2);
		open();
		pass(OPEN);
		assertThat(this.told).containsExactly("1", "2");
	}

	@Test
	void aLateSuccessOfATrialDoesNotCountAsOneAfterClosing() {
		open();
		RoomTicket a = join("a");
		for (int i = 0; i < 3; i++) {
			join("b" + i);
		}
		pass(OPEN);
		permit().success();
		this.room.ended(a, true);
		assertThat(this.told).containsExactly("a", "b0");
	}

	@ParameterizedTest
	@CsvSource({ "CLOSED, true", "DISABLED, true", "OPEN, false", "HALF_OPEN, false", "FORCED_OPEN, false" })
	void whereNobodyWaitsACallNeedNotJoinWhileTheBreakerLetsAllPass(BreakerState state, boolean mayPass) {
		switch (state) {
			case DISABLED -> this.breaker.disable();
			case FORCED_OPEN -> this.breaker.forceOpen();
			case CLOSED -> this.breaker.close();
			default -> open();
		}
		if (state == BreakerState.HALF_OPEN) {
			pass(OPEN);
			permit();
		}
		assertThat(this.breaker.state()).isEqualTo(state);
		assertThat(this.room.mayPass()).isEqualTo(mayPass);
	}

	@Test
	void newcomersHaveToJoinAsLongAsSomebodyWaits() {
		List<RoomTicket> tickets = closeWithWaiting(2);
		assertThat(this.room.mayPass()).isFalse();
		RoomTicket late = join("late");
		this.room.ended(tickets.get(0), false);
		assertThat(late.state()).isEqualTo(State.WAITING);
		this.room.ended(tickets.get(1), false);
		assertThat(late.state()).isEqualTo(State.ADMITTED);
		assertThat(this.room.mayPass()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aCallWaitsNoLongerThanItsDeadline(boolean forced) {
		if (forced) {
			this.breaker.forceOpen();
		}
		else {
			open();
		}
		RoomTicket second = join("b", Duration.ofSeconds(7));
		RoomTicket first = join("a", Duration.ofSeconds(5));
		pass(Duration.ofSeconds(7).minusNanos(1));
		assertThat(this.told).containsExactly("a");
		pass(Duration.ofNanos(1));
		assertThat(this.told).containsExactly("a", "b");
		assertThat(List.of(first.state(), second.state())).containsOnly(State.EXPIRED);
		assertThat(this.time.pending()).isZero();
	}

	@Test
	void whoHasNoTimeLeftDoesNotWait() {
		open();
		assertThat(join("a", Duration.ZERO).state()).isEqualTo(State.EXPIRED);
		assertThat(this.told).isEmpty();
		assertThat(this.room.waiting()).isZero();
	}

	@Test
	void anOperatorWhoOpensItKeepsThemWaitingAndOneWhoClosesItLetsThemIn() {
		this.breaker.forceOpen();
		join("a");
		pass(Duration.ofMinutes(30));
		assertThat(this.told).isEmpty();
		this.breaker.close();
		assertThat(this.told).containsExactly("a");
	}

	@Test
	void whoLeavesIsNotTold() {
		open();
		RoomTicket a = join("a");
		join("b");
		assertThat(this.room.leave(a)).isTrue();
		assertThat(this.room.leave(a)).isFalse();
		assertThat(a.state()).isEqualTo(State.LEFT);
		pass(OPEN);
		assertThat(this.told).containsExactly("b");
	}

	@Test
	void whoWasLetInCannotLeaveButMustReportItsEnd() {
		open();
		RoomTicket a = join("a");
		join("b");
		pass(OPEN);
		assertThat(this.room.leave(a)).isFalse();
		assertThat(this.told).containsExactly("a");
		this.room.ended(a, false);
		assertThat(this.told).containsExactly("a", "b");
	}

	@Test
	void whenTheRoomClosesAllWhoWaitAreRefusedAndSoIsWhoeverComesLater() {
		open();
		RoomTicket a = join("a");
		this.room.close();
		assertThat(a.state()).isEqualTo(State.REFUSED_CLOSED);
		assertThat(this.told).containsExactly("a");
		assertThat(join("b").state()).isEqualTo(State.REFUSED_CLOSED);
		assertThat(this.told).containsExactly("a");
		assertThat(this.time.pending()).isZero();
	}

	@Test
	void oneTimerServesAThousandAndNoneIsLeftBehind() {
		open();
		List<RoomTicket> tickets = new ArrayList<>();
		for (int i = 0; i < 1000; i++) {
			tickets.add(join("a", Duration.ofSeconds(5 + i % 7)));
			assertThat(this.time.pending()).isEqualTo(1);
		}
		for (RoomTicket ticket : tickets) {
			assertThat(this.time.pending()).isEqualTo(1);
			this.room.leave(ticket);
		}
		assertThat(this.time.pending()).isZero();
	}

	@Test
	void aTimerThatGoesOffWhileItIsSetAnewSetsNoOther() {
		open();
		join("a", Duration.ofSeconds(5));
		Runnable late = this.time.last();
		join("b", Duration.ofSeconds(4));
		late.run();
		assertThat(this.time.pending()).isEqualTo(1);
		pass(Duration.ofSeconds(5));
		assertThat(this.told).containsExactly("b", "a");
		assertThat(this.time.pending()).isZero();
	}

	@Test
	void aTimerThatGoesOffTooEarlyIsSetAgain() {
		this.time.nextGoesOffEarly(Duration.ofMillis(1));
		open();
		join("a");
		pass(OPEN);
		assertThat(this.told).containsExactly("a");
	}

	@Test
	void oneWhoCannotBeWokenCostsNobodyElseItsTurn() {
		this.breaker.forceOpen();
		RoomTicket broken = this.room.join(deadline(LONG), () -> {
			throw new IllegalStateException("no thread left");
		});
		join("b");
		this.breaker.close();
		assertThat(broken.state()).isEqualTo(State.ADMITTED);
		this.room.ended(broken, false);
		assertThat(this.told).containsExactly("b");
		this.room.join(deadline(LONG), () -> {
			throw new IllegalStateException("no thread left");
		});
		join("c");
		this.room.close();
		assertThat(this.told).containsExactly("b", "c");
	}

	@Test
	void aListenerOfTheBreakerThatThrowsKeepsNobodyWaiting() {
		open();
		join("a");
		this.listenerFails = new IllegalStateException("a listener of the application");
		try {
			this.breaker.close();
		}
		catch (IllegalStateException ex) {
			assertThat(ex).isSameAs(this.listenerFails);
		}
		assertThat(this.told).containsExactly("a");
	}

	@Test
	void nobodyIsToldWhileTheRoomIsLocked() {
		open();
		RoomTicket other = join("other");
		this.room.leave(other);
		List<Integer> seen = new ArrayList<>();
		this.room.join(deadline(LONG), () -> seen.add(onAnotherThread(() -> {
			this.room.ended(other, false);
			return this.room.waiting();
		})));
		pass(OPEN);
		assertThat(seen).containsExactly(0);
	}

	private static <T> T onAnotherThread(Supplier<T> task) {
		return CompletableFuture.supplyAsync(task).orTimeout(10, TimeUnit.SECONDS).join();
	}

	/** Lets some wait behind an open breaker, and closes it. */
	private List<RoomTicket> closeWithWaiting(int calls) {
		this.breaker.forceOpen();
		List<RoomTicket> tickets = new ArrayList<>();
		for (int i = 1; i <= calls; i++) {
			tickets.add(join(Integer.toString(i)));
		}
		this.breaker.close();
		return tickets;
	}

	private void open() {
		for (int i = 0; i < 3; i++) {
			fail(permit());
		}
		assertThat(this.breaker.state()).isEqualTo(BreakerState.OPEN);
	}

	private void trialFails(RoomTicket ticket) {
		assertThat(ticket.state()).isEqualTo(State.ADMITTED);
		fail(permit());
		this.room.ended(ticket, false);
	}

	private static void fail(Permit permit) {
		permit.failure(FailureKind.SERVER_ERROR, 500, 0);
	}

	private Permit permit() {
		return Objects.requireNonNull(this.breaker.tryAcquire());
	}

	private RoomTicket join(String name) {
		return join(name, LONG);
	}

	private RoomTicket join(String name, Duration patience) {
		return this.room.join(deadline(patience), () -> this.told.add(name));
	}

	private long deadline(Duration patience) {
		return this.time.nanoTime() + patience.toNanos();
	}

	private void pass(Duration duration) {
		this.time.runFor(duration);
	}

}
