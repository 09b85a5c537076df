package dev.llmresilience.breaker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import dev.llmresilience.FailureKind;
import dev.llmresilience.breaker.CircuitBreaker.Permit;
import dev.llmresilience.breaker.RoomTicket.State;
import dev.llmresilience.test.SettableTime;
import dev.llmresilience.time.SystemTimeSource;
import dev.llmresilience.time.TimeSource;
import dev.llmresilience.time.TimeSource.Waiter;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads that come to a room, wait, go away and report at the same moment.
 */
class WaitingRoomConcurrencyTests {

	private static final int ROUNDS = 20_000;

	private static final int THREADS = 24;

	private static final int CALLS = 500;

	private final ExecutorService executor = Executors.newCachedThreadPool();

	@AfterEach
	void shutdown() {
		this.executor.shutdownNow();
	}

	/**
	 * No timer ever runs here, so that a word that gets lost is not made up for later.
	 */
	@Test
	void theEndOfATrialIsHeardByThoseWhoJoinAtThatMoment() throws Exception {
		Phaser together = new Phaser(3);
		List<Round> rounds = new ArrayList<>();
		for (int i = 0; i < ROUNDS; i++) {
			rounds.add(new Round(i % 2 == 0));
		}
		List<Future<?>> running = new ArrayList<>();
		running.add(this.executor.submit(() -> each(rounds, together, Round::endTrial)));
		running.add(this.executor.submit(() -> each(rounds, together, (round) -> round.one.join())));
		running.add(this.executor.submit(() -> each(rounds, together, (round) -> round.other.join())));
		for (Future<?> thread : running) {
			thread.get(60, TimeUnit.SECONDS);
		}
		assertThat(rounds).allSatisfy((round) -> {
			assertThat(round.room.waiting()).isZero();
			assertThat(round.one.attempts).hasValue(1);
			assertThat(round.other.attempts).hasValue(1);
			assertThat(round.breaker.state()).isEqualTo(BreakerState.CLOSED);
		});
	}

	/** A thread that fails does not keep the others from getting to the end. */
	private static void each(List<Round> rounds, Phaser together, Consumer<Round> part) {
		try {
			for (Round round : rounds) {
				together.arriveAndAwaitAdvance();
				part.accept(round);
			}
		}
		finally {
			together.arriveAndDeregister();
		}
	}

	@Test
	void nobodyIsLostAndNoTwoTrialsAreInFlightWhateverCallersDo() throws Exception {
		try (SystemTimeSource time = new SystemTimeSource()) {
			Storm storm = new Storm(time);
			List<Future<?>> running = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				SplittableRandom random = new SplittableRandom(i);
				running.add(this.executor.submit(() -> {
					for (int call = 0; call < CALLS; call++) {
						storm.call(random);
					}
					return null;
				}));
			}
			for (Future<?> thread : running) {
				thread.get(120, TimeUnit.SECONDS);
			}
			System.out.printf("%d calls: %d answered, %d cancelled, %d waits, %d trials, %d without permit%n",
					THREADS * CALLS, storm.answered.get(), storm.cancelled.get(), storm.waits.get(), storm.trials.get(),
					storm.turnedAway.get());
			assertThat(storm.answered.get() + storm.cancelled.get()).isEqualTo(THREADS * CALLS);
			assertThat(storm.cancelled).hasPositiveValue();
			assertThat(storm.trials).hasPositiveValue();
			assertThat(storm.waits).hasPositiveValue();
			assertThat(storm.room.waiting()).isZero();
		}
	}

	/**
	 * A trial of a call that was never in the room ends while two calls join. It has a
	 * clock of its own: were it moved on for the next round, the trial would be over
	 * before it ends, and nobody would wait for it.
	 */
	private static final class Round {

		private final CircuitBreaker breaker;

		private final WaitingRoom room;

		private final Permit trial;

		private final boolean success;

		private final Caller one;

		private final Caller other;

		Round(boolean success) {
			SettableTime time = new SettableTime();
			this.breaker = new CircuitBreaker("p", new BreakerSettings(1, null, 100, null, Duration.ofSeconds(1),
					Duration.ofMinutes(5), Duration.ofMinutes(2)), time, (transition) -> {
					});
			Objects.requireNonNull(this.breaker.tryAcquire()).failure(FailureKind.SERVER_ERROR, 500, 0);
			time.advance(Duration.ofSeconds(1));
			this.room = new WaitingRoom(this.breaker, time);
			this.trial = Objects.requireNonNull(this.breaker.tryAcquire());
			this.success = success;
			this.one = new Caller(this);
			this.other = new Caller(this);
		}

		void endTrial() {
			if (this.success) {
				this.trial.success();
			}
			else {
				this.trial.neutral();
			}
		}

	}

	/** A caller that has no thread of its own. */
	private static final class Caller {

		private final Round round;

		private final AtomicBoolean started = new AtomicBoolean();

		private final AtomicInteger attempts = new AtomicInteger();

		private volatile @Nullable RoomTicket ticket;

		Caller(Round round) {
			this.round = round;
		}

		void join() {
			this.ticket = this.round.room.join(Long.MAX_VALUE / 2, this::go);
			go();
		}

		/** The word may come before the ticket does. */
		private void go() {
			RoomTicket ticket = this.ticket;
			if (ticket != null && ticket.state() == State.ADMITTED && this.started.compareAndSet(false, true)) {
				Permit permit = Objects.requireNonNull(this.round.breaker.tryAcquire(), "somebody else is inside");
				this.attempts.incrementAndGet();
				permit.success();
				this.round.room.ended(ticket, true);
			}
		}

	}

	/** A provider that fails two calls of three, and callers some of which go away. */
	private static final class Storm {

		private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);

		private final TimeSource time;

		private final CircuitBreaker breaker;

		private final WaitingRoom room;

		private final AtomicInteger trialsInFlight = new AtomicInteger();

		private final AtomicInteger trials = new AtomicInteger();

		private final AtomicInteger waits = new AtomicInteger();

		private final AtomicInteger answered = new AtomicInteger();

		private final AtomicInteger cancelled = new AtomicInteger();

		private final AtomicInteger turnedAway = new AtomicInteger();

		Storm(TimeSource time) {
			this.time = time;
			this.breaker = new CircuitBreaker("p", new BreakerSettings(3, null, 100, null, Duration.ofNanos(100_000),
					Duration.ofNanos(400_000), Duration.ofMinutes(2)), time, (transition) -> {
					});
			this.room = new WaitingRoom(this.breaker, time);
		}

		void call(SplittableRandom random) throws InterruptedException {
			RoomTicket ticket = null;
			while (true) {
				if (ticket != null || !this.room.mayPass()) {
					ticket = wait(ticket, random);
					if (ticket == null) {
						this.cancelled.incrementAndGet();
						return;
					}
				}
				Permit permit = this.breaker.tryAcquire();
				if (permit == null) {
					this.turnedAway.incrementAndGet();
				}
				else {
					boolean success = attempt(permit, random);
					if (ticket != null) {
						this.room.ended(ticket, success);
						ticket = null;
					}
					if (success) {
						this.answered.incrementAndGet();
						return;
					}
				}
			}
		}

		private @Nullable RoomTicket wait(@Nullable RoomTicket before, SplittableRandom random)
				throws InterruptedException {
			Waiter waiter = this.time.waiter();
			RoomTicket ticket = (before != null) ? this.room.rejoin(before, waiter::signal)
					: this.room.join(this.time.nanoTime() + PATIENCE, waiter::signal);
			if (ticket.state() == State.WAITING) {
				this.waits.incrementAndGet();
				boolean impatient = random.nextInt(5) == 0;
				waiter.await(impatient ? random.nextInt(300_000) : PATIENCE);
				if (this.room.leave(ticket)) {
					assertThat(impatient).as("whoever waits is told").isTrue();
					return null;
				}
			}
			assertThat(ticket.state()).isEqualTo(State.ADMITTED);
			if (random.nextInt(20) == 0) {
				this.room.ended(ticket, false);
				return null;
			}
			return ticket;
		}

		private boolean attempt(Permit permit, SplittableRandom random) {
			boolean trial = permit.isTrial();
			if (trial) {
				this.trials.incrementAndGet();
				assertThat(this.trialsInFlight.incrementAndGet()).as("trials in flight").isEqualTo(1);
			}
			for (int spin = random.nextInt(500); spin > 0; spin--) {
				Thread.onSpinWait();
			}
			if (trial) {
				this.trialsInFlight.decrementAndGet();
			}
			int outcome = random.nextInt(10);
			if (outcome < 3) {
				permit.success();
				return true;
			}
			if (outcome < 9) {
				permit.failure(FailureKind.SERVER_ERROR, 500, 0);
			}
			else {
				permit.neutral();
			}
			return false;
		}

	}

}
