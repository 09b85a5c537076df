package dev.llmresilience.breaker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import dev.llmresilience.FailureKind;
import dev.llmresilience.breaker.CircuitBreaker.Permit;
import dev.llmresilience.breaker.RoomTicket.State;
import dev.llmresilience.test.SimulatedProvider.StatusException;
import dev.llmresilience.test.VirtualTime;
import dev.llmresilience.time.TimeSource.Waiter;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Batch work through an outage: what waits in the room is neither lost nor a burden to
 * the provider. The calls block, on a driver that is no more than the room needs.
 */
class OutageTests {

	private static final Duration DOWN_FROM = Duration.ofSeconds(4);

	private static final Duration OUTAGE = Duration.ofSeconds(6);

	private static final Duration LATENCY = Duration.ofMillis(50);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final VirtualTime time = new VirtualTime(1);

	private final List<BreakerTransition> transitions = new ArrayList<>();

	private final CircuitBreaker breaker = new CircuitBreaker("p", new BreakerSettings(10, null, 100, null,
			Duration.ofSeconds(1), Duration.ofMinutes(5), Duration.ofMinutes(2)), this.time, this.transitions::add);

	private final WaitingRoom room = new WaitingRoom(this.breaker, this.time);

	private int requests;

	private int inFlight;

	private int mostInFlight;

	private int requestsWhileDown;

	@AfterEach
	void close() {
		this.time.close();
	}

	@Test
	void allOfEightyCallsThroughAnOutageOfSixSecondsAreAnswered() {
		int calls = 80;
		List<Duration> answered = new ArrayList<>();
		for (int i = 0; i < calls; i++) {
			this.time.startAfter(Duration.ofMillis(250).multipliedBy(i), () -> {
				call();
				answered.add(this.time.elapsed());
			});
		}
		this.time.run();
		long trials = this.transitions.stream()
			.filter((transition) -> transition.to() == BreakerState.HALF_OPEN)
			.filter((transition) -> isDown(Duration.between(VirtualTime.DEFAULT_START, transition.at())))
			.count();
		System.out.printf("outage of %s: %d of %d answered, %d requests while down (%d trials), last answer at %s%n",
				OUTAGE, answered.size(), calls, this.requestsWhileDown, trials, answered.get(calls - 1));
		assertThat(this.time.active()).as("callers that hang").isZero();
		assertThat(answered).hasSize(calls);
		assertThat(trials).isEqualTo(2);
		assertThat(this.requestsWhileDown).as("the failures that opened it, and one for each trial")
			.isEqualTo(10 + (int) trials);
		assertThat(this.room.waiting()).isZero();
	}

	@Test
	void aBatchThatWaitedComesBackOneThenTwoThenFourAtATime() {
		for (int i = 0; i < 200; i++) {
			this.time.startAfter(DOWN_FROM.plusSeconds(4), this::call);
		}
		for (int i = 0; i < 10; i++) {
			Permit permit = Objects.requireNonNull(this.breaker.tryAcquire());
			permit.failure(FailureKind.OVERLOADED, 529, DOWN_FROM.plus(OUTAGE).toNanos());
		}
		this.time.run();
		assertThat(this.requests).isEqualTo(200);
		assertThat(this.requestsWhileDown).isZero();
		// The trial, and then 1, 2, 4 ... 64 and the rest: nine times the latency.
		assertThat(this.time.elapsed()).isEqualTo(DOWN_FROM.plus(OUTAGE).plus(LATENCY.multipliedBy(9)));
		assertThat(this.mostInFlight).isEqualTo(72);
	}

	@Test
	void whoeverRunsOutOfTimeGivesUpAtItsDeadline() {
		this.breaker.forceOpen();
		List<Duration> gone = new ArrayList<>();
		this.time.start(() -> {
			try {
				call();
			}
			catch (StatusException ex) {
				gone.add(this.time.elapsed());
			}
		});
		this.time.run();
		assertThat(gone).containsExactly(PATIENCE);
	}

	/** Makes a call with the ladder of four attempts, on which no trial counts. */
	private void call() {
		long deadline = this.time.nanoTime() + PATIENCE.toNanos();
		RoomTicket ticket = null;
		int failures = 0;
		while (true) {
			if (ticket != null || !this.room.mayPass()) {
				ticket = await(ticket, deadline);
			}
			Permit permit = this.breaker.tryAcquire();
			if (permit == null) {
				continue;
			}
			try {
				request();
				permit.success();
				end(ticket, true);
				return;
			}
			catch (StatusException ex) {
				permit.failure(FailureKind.OVERLOADED, ex.status(), 0);
				end(ticket, false);
				ticket = null;
				if (!permit.isTrial()) {
					failures++;
					if (failures == 4) {
						throw ex;
					}
					this.time.sleep(Duration.ofSeconds(1).multipliedBy(1L << (failures - 1)));
				}
			}
		}
	}

	private void end(@Nullable RoomTicket ticket, boolean success) {
		if (ticket != null) {
			this.room.ended(ticket, success);
		}
	}

	private RoomTicket await(@Nullable RoomTicket before, long deadline) {
		Waiter waiter = this.time.waiter();
		RoomTicket ticket = (before != null) ? this.room.rejoin(before, waiter::signal)
				: this.room.join(deadline, waiter::signal);
		if (ticket.state() == State.WAITING) {
			try {
				waiter.await(deadline - this.time.nanoTime());
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
			this.room.leave(ticket);
		}
		if (ticket.state() != State.ADMITTED) {
			throw new StatusException(0, null);
		}
		return ticket;
	}

	private void request() {
		this.requests++;
		this.inFlight++;
		this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
		boolean down = isDown(this.time.elapsed());
		this.requestsWhileDown += down ? 1 : 0;
		this.time.sleep(LATENCY);
		this.inFlight--;
		if (down) {
			throw new StatusException(529, null);
		}
	}

	private static boolean isDown(Duration at) {
		return at.compareTo(DOWN_FROM) >= 0 && at.compareTo(DOWN_FROM.plus(OUTAGE)) < 0;
	}

}
