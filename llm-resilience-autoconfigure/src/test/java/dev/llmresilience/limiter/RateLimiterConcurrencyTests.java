package dev.llmresilience.limiter;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.Priority;
import dev.llmresilience.limiter.Ticket.State;
import dev.llmresilience.test.SettableTime;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads that do everything to a limiter at the same moment, while the clock stands
 * still, so that what may leave can be counted.
 */
class RateLimiterConcurrencyTests {

	private static final int THREADS = 4;

	private static final int BURST = 5;

	@Test
	void neverGivesOutMoreSlotsThanThereAreAndSettlesEveryPlaceOnce() throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(THREADS);
		for (int seed = 0; seed < 300; seed++) {
			RateLimiter limiter = new RateLimiter(
					LimiterSettings.DEFAULTS.withMode(LimiterMode.FIXED).withRate(60.0, BURST), new SettableTime());
			List<Future<Caller>> running = new ArrayList<>();
			for (int thread = 0; thread < THREADS; thread++) {
				Caller caller = new Caller(limiter, new SplittableRandom(seed * 31L + thread));
				running.add(executor.submit(caller::run));
			}
			List<Caller> callers = new ArrayList<>();
			for (Future<Caller> caller : running) {
				callers.add(caller.get(30, TimeUnit.SECONDS));
			}
			int waiting = callers.stream().mapToInt(Caller::waiting).sum();
			assertThat(limiter.waiting()).as("seed %d", seed).isEqualTo(waiting);
			int out = callers.stream().mapToInt(Caller::out).sum();
			assertThat(out).as("seed %d", seed).isBetween(0, BURST);
			limiter.close();
			assertThat(limiter.waiting()).isZero();
			assertThat(callers).allSatisfy(Caller::assertThatEveryPlaceIsSettledOnce);
		}
		executor.shutdown();
	}

	private static final class Caller {

		private final RateLimiter limiter;

		private final SplittableRandom random;

		private final List<Place> places = new ArrayList<>();

		private final Deque<Permit> taken = new ArrayDeque<>();

		Caller(RateLimiter limiter, SplittableRandom random) {
			this.limiter = limiter;
			this.random = random;
		}

		Caller run() {
			for (int i = 0; i < 60; i++) {
				switch (this.random.nextInt(4)) {
					case 0 -> take();
					case 1 -> this.places.add(Place.in(this.limiter, this.random.nextBoolean()));
					case 2 -> giveBack();
					default -> this.places.stream().skip(this.random.nextInt(5)).findFirst().ifPresent(this::leave);
				}
			}
			return this;
		}

		private void take() {
			Permit permit = Place.permit();
			if (this.limiter.tryAcquire(permit, 0)) {
				this.taken.add(permit);
			}
		}

		private void leave(Place place) {
			boolean left = this.limiter.leave(place.ticket());
			assertThat(left && place.ticket().state() != State.LEFT).isFalse();
		}

		/** Only a slot that this caller holds. */
		private void giveBack() {
			Permit permit = this.taken.poll();
			if (permit != null) {
				this.limiter.giveBack(permit);
			}
		}

		int waiting() {
			return count(State.WAITING);
		}

		/** Slots that this caller has and did not give back. */
		int out() {
			return this.taken.size() + count(State.GRANTED);
		}

		private int count(State state) {
			return (int) this.places.stream().filter((place) -> place.ticket().state() == state).count();
		}

		void assertThatEveryPlaceIsSettledOnce() {
			assertThat(this.places).allSatisfy((place) -> {
				State state = place.ticket().state();
				assertThat(state).isNotEqualTo(State.WAITING);
				if (state == State.GRANTED && place.ticket().neededNanos() == 0) {
					// At once, and not told, or a moment after it was returned.
					assertThat(place.told()).hasValueLessThan(2);
				}
				else {
					assertThat(place.told()).hasValue((state != State.LEFT) ? 1 : 0);
				}
			});
		}

	}

	private record Place(Ticket ticket, AtomicInteger told) {

		static Permit permit() {
			return new Permit(Place.class, Priority.NORMAL, 0, false, 0);
		}

		static Place in(RateLimiter limiter, boolean retry) {
			AtomicInteger told = new AtomicInteger();
			Ticket ticket = limiter.enqueue(permit(), 0, Duration.ofHours(1).toNanos(), retry, told::incrementAndGet);
			return new Place(ticket, told);
		}

	}

}
