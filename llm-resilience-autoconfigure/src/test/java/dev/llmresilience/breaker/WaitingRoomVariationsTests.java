package dev.llmresilience.breaker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import dev.llmresilience.FailureKind;
import dev.llmresilience.breaker.CircuitBreaker.Permit;
import dev.llmresilience.breaker.RoomTicket.State;
import dev.llmresilience.test.VirtualTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Callers without threads that do all that they may do, and some that they should not, in
 * a thousand orders.
 */
class WaitingRoomVariationsTests {

	private static final int SEEDS = 1000;

	private static final int CALLERS = 60;

	private static final Duration TRIAL_TIMEOUT = Duration.ofSeconds(5);

	@Test
	void nobodyIsLostNoTwoTrialsAreInFlightAndOneTimerIsEnough() {
		Map<State, Integer> counts = new EnumMap<>(State.class);
		for (int seed = 0; seed < SEEDS; seed++) {
			Variation variation = new Variation(seed);
			variation.run();
			variation.tickets.forEach((ticket) -> counts.merge(ticket.state(), 1, Integer::sum));
		}
		assertThat(counts).containsOnlyKeys(State.ADMITTED, State.ENDED, State.LEFT, State.EXPIRED);
		assertThat(counts.values()).allMatch((count) -> count > SEEDS);
	}

	/** What happens with one seed. */
	private static final class Variation {

		private final int seed;

		private final SplittableRandom random;

		private final VirtualTime time;

		private final CountedTimers timers;

		private final CircuitBreaker breaker;

		private final WaitingRoom room;

		private final List<RoomTicket> tickets = new ArrayList<>();

		private @Nullable Permit trial;

		private boolean down = true;

		Variation(int seed) {
			this.seed = seed;
			this.random = new SplittableRandom(seed);
			this.time = new VirtualTime(seed);
			this.timers = new CountedTimers(this.time);
			this.breaker = new CircuitBreaker("p", new BreakerSettings(1 + seed % 3, null, 100, null,
					Duration.ofSeconds(1), Duration.ofSeconds(4), TRIAL_TIMEOUT), this.time, (transition) -> {
					});
			this.room = new WaitingRoom(this.breaker, this.timers);
		}

		void run() {
			for (int i = 0; i < CALLERS; i++) {
				within(20, () -> new Caller(this, this.time.nanoTime() + nanos(60)).go());
			}
			for (int i = 0; i < 4; i++) {
				within(30, () -> this.down = this.random.nextBoolean());
			}
			if (this.random.nextInt(3) == 0) {
				within(20, this.breaker::forceOpen);
				within(30, this.random.nextBoolean() ? this.breaker::close : this.breaker::disable);
			}
			this.time.runFor(Duration.ofMinutes(3));
			assertThat(this.room.waiting()).as("seed %d", this.seed).isZero();
			assertThat(this.timers.pending()).as("seed %d", this.seed).isZero();
		}

		/** Lets something happen some time within the next seconds. */
		void within(int seconds, Runnable task) {
			this.time.schedule(nanos(seconds), () -> {
				task.run();
				assertThat(this.timers.pending()).as("seed %d: timers", this.seed)
					.isEqualTo((this.room.waiting() > 0) ? 1 : 0);
			});
		}

		private long nanos(int seconds) {
			return this.random.nextLong(Duration.ofSeconds(seconds).toNanos());
		}

		void sent(Permit permit) {
			if (permit.isTrial()) {
				assertThat(this.trial != null && this.trial.holdsTrial() && this.trial != permit)
					.as("seed %d: another trial is in flight", this.seed)
					.isFalse();
				this.trial = permit;
			}
		}

		/** Takes one to two seconds, and sometimes longer than a trial may take. */
		void answer(Permit permit, Runnable then) {
			int seconds = (this.random.nextInt(10) == 0) ? 8 : 2;
			within(seconds, () -> {
				if (this.random.nextInt(10) == 0) {
					permit.neutral();
				}
				else if (this.down || this.random.nextInt(10) == 0) {
					permit.failure(FailureKind.SERVER_ERROR, 500, 0);
				}
				else {
					permit.success();
				}
				then.run();
			});
		}

	}

	/** One call, with all its attempts. */
	private static final class Caller {

		private final Variation variation;

		private final long deadline;

		private @Nullable RoomTicket ticket;

		private int told;

		private int attempts;

		Caller(Variation variation, long deadline) {
			this.variation = variation;
			this.deadline = deadline;
		}

		void go() {
			if (this.variation.room.mayPass()) {
				attempt();
			}
			else {
				enter(null);
			}
		}

		private void enter(@Nullable RoomTicket before) {
			this.told = 0;
			this.ticket = null;
			RoomTicket joined = (before != null) ? this.variation.room.rejoin(before, this::onWord)
					: this.variation.room.join(this.deadline, this::onWord);
			this.variation.tickets.add(joined);
			this.ticket = joined;
			if (joined.state() == State.ADMITTED) {
				letIn(joined);
			}
			else if (this.variation.random.nextInt(5) == 0) {
				this.variation.within(30, () -> leave(joined));
			}
		}

		private void leave(RoomTicket joined) {
			boolean waited = joined.state() == State.WAITING;
			assertThat(this.variation.room.leave(joined)).isEqualTo(waited);
		}

		private void onWord() {
			assertThat(++this.told).as("told").isEqualTo(1);
			RoomTicket ticket = this.ticket;
			if (ticket != null && ticket.state() == State.ADMITTED) {
				letIn(ticket);
			}
			else if (ticket != null) {
				assertThat(ticket.state()).isEqualTo(State.EXPIRED);
				assertThat(this.variation.time.nanoTime()).isEqualTo(this.deadline);
			}
			// Otherwise the word came before the ticket, which shows it.
		}

		private void letIn(RoomTicket ticket) {
			switch (this.variation.random.nextInt(10)) {
				case 0 -> {
					// It is never heard of again.
				}
				case 1 -> this.variation.within(2, () -> this.variation.room.ended(ticket, false));
				case 2 -> this.variation.within(2, this::attempt);
				default -> attempt();
			}
		}

		private void attempt() {
			RoomTicket ticket = this.ticket;
			Permit permit = this.variation.breaker.tryAcquire();
			if (permit == null) {
				enter(ticket);
				return;
			}
			this.variation.sent(permit);
			this.variation.answer(permit, () -> {
				boolean success = this.variation.breaker.state() == BreakerState.CLOSED;
				if (ticket != null) {
					this.variation.room.ended(ticket, success);
				}
				if (!success && ++this.attempts < 5) {
					this.ticket = null;
					go();
				}
			});
		}

	}

}
