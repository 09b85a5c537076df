package dev.llmresilience.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.engine.Flight.Share;
import dev.llmresilience.engine.Flight.Share.State;
import dev.llmresilience.time.SystemTimeSource;
import dev.llmresilience.time.TimeSource.Waiter;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many threads that make equal calls at the same moment, and of which some go away,
 * whether they lead or follow.
 */
class InFlightConcurrencyTests {

	private static final int THREADS = 200;

	private static final int ROUNDS = 100;

	private static final int KEYS = 3;

	private final InFlight inFlight = new InFlight();

	private final SystemTimeSource time = new SystemTimeSource();

	private final ExecutorService executor = Executors.newFixedThreadPool(THREADS);

	/** Who leads the calls of a key. */
	private final AtomicInteger[] leading = new AtomicInteger[KEYS];

	private final AtomicInteger requests = new AtomicInteger();

	private final AtomicInteger shared = new AtomicInteger();

	private final AtomicInteger takenOver = new AtomicInteger();

	@AfterEach
	void shutdown() {
		this.executor.shutdownNow();
		this.time.close();
	}

	@Test
	void eachHasExactlyOneOutcomeAndNoTwoLeadTheSameCall() throws Exception {
		for (int key = 0; key < KEYS; key++) {
			this.leading[key] = new AtomicInteger();
		}
		int left = 0;
		for (int round = 0; round < ROUNDS; round++) {
			CountDownLatch start = new CountDownLatch(1);
			List<Future<Outcome>> callers = new ArrayList<>();
			for (int thread = 0; thread < THREADS; thread++) {
				SplittableRandom random = new SplittableRandom(round * 1000L + thread);
				callers.add(this.executor.submit(() -> {
					start.await();
					return call(random);
				}));
			}
			start.countDown();
			for (Future<Outcome> caller : callers) {
				Outcome outcome = caller.get(30, TimeUnit.SECONDS);
				left += (outcome.state() == State.LEFT) ? 1 : 0;
				assertThat(outcome.told()).isLessThanOrEqualTo(1);
			}
			assertThat(this.inFlight.size()).as("calls that nobody shares are forgotten").isZero();
		}
		int calls = THREADS * ROUNDS;
		assertThat(this.requests.get() + this.shared.get() + left).isEqualTo(calls);
		assertThat(left).as("some went away").isPositive();
		assertThat(this.shared).as("some shared").hasPositiveValue();
		assertThat(this.takenOver).as("some took over").hasPositiveValue();
		System.out.printf("%d equal calls: %d requests, %d shared, %d took over, %d left%n", calls, this.requests.get(),
				this.shared.get(), this.takenOver.get(), left);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void whoJoinsWhileTheOnlyOneEndsIsFoundByTheNext(boolean leaves) throws Exception {
		CyclicBarrier barrier = new CyclicBarrier(2);
		int shared = 0;
		for (int round = 0; round < 20_000; round++) {
			InFlight.Key key = new InFlight.Key("m", "p", round);
			Share only = this.inFlight.join(key, () -> {
			});
			Future<Boolean> end = this.executor.submit(() -> {
				barrier.await(30, TimeUnit.SECONDS);
				return leaves ? only.leave() : only.succeeded("answer");
			});
			barrier.await(30, TimeUnit.SECONDS);
			Share joined = this.inFlight.join(key, () -> {
			});
			assertThat(end.get(30, TimeUnit.SECONDS)).isTrue();
			Share next = this.inFlight.join(key, () -> {
			});
			if (joined.state() == State.LEADING) {
				assertThat(next.state()).as("round %d", round).isEqualTo(State.FOLLOWING);
				joined.leave();
			}
			else {
				assertThat(joined.state()).isEqualTo(State.SUCCEEDED);
				assertThat(next.state()).as("round %d", round).isEqualTo(State.LEADING);
				shared++;
			}
			next.leave();
		}
		assertThat(this.inFlight.size()).isZero();
		assertThat(shared > 0).as("some came in time for the outcome").isEqualTo(!leaves);
	}

	private Outcome call(SplittableRandom random) throws InterruptedException {
		int key = random.nextInt(KEYS);
		AtomicInteger told = new AtomicInteger();
		Waiter waiter = this.time.waiter();
		Share share = this.inFlight.join(new InFlight.Key("m", "p", key), () -> {
			told.incrementAndGet();
			waiter.signal();
		});
		if (share.state() != State.LEADING) {
			boolean impatient = random.nextInt(4) == 0;
			waiter.await(impatient ? random.nextInt(200_000) : TimeUnit.SECONDS.toNanos(20));
			if (impatient && share.leave()) {
				return new Outcome(State.LEFT, told.get());
			}
			assertThat(share.state()).as("nobody waits in vain").isNotEqualTo(State.FOLLOWING);
			if (share.state() == State.LEADING) {
				this.takenOver.incrementAndGet();
			}
		}
		if (share.state() == State.LEADING) {
			lead(share, key, random);
		}
		else {
			this.shared.incrementAndGet();
			assertThat((share.failure() != null) ? share.failure().getMessage() : share.result())
				.isEqualTo("answer of " + key);
		}
		return new Outcome(share.state(), told.get());
	}

	private void lead(Share share, int key, SplittableRandom random) throws InterruptedException {
		assertThat(this.leading[key].incrementAndGet()).as("leaders").isEqualTo(1);
		this.time.waiter().await(random.nextInt(500_000));
		this.leading[key].decrementAndGet();
		switch (random.nextInt(3)) {
			case 0 -> {
				assertThat(share.leave()).isTrue();
				return;
			}
			case 1 -> assertThat(share.succeeded("answer of " + key)).isTrue();
			default -> assertThat(share.failed(new IllegalStateException("answer of " + key))).isTrue();
		}
		this.requests.incrementAndGet();
	}

	/**
	 * What came of a call.
	 *
	 * @param state how its share ended
	 * @param told how often it was told
	 */
	private record Outcome(@Nullable State state, int told) {
	}

}
