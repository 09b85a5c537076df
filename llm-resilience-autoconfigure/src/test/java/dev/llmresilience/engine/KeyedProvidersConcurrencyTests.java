package dev.llmresilience.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.test.SettableTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads that lease and release more key values than there is room for at the same
 * moment.
 */
class KeyedProvidersConcurrencyTests {

	private static final int THREADS = 4;

	private static final int MAX_KEYS = 2;

	private static final int KEYS = 4;

	private static final int CALLS = 100_000;

	private final KeyedProviders providers = new KeyedProviders(ProviderSettings.defaults("p"),
			ProviderSettings.defaults("p").limiter(), new RetrySwitch(), MAX_KEYS, new SettableTime(),
			GuardListener.NONE, CallMonitor.Factory.NONE);

	/** Who is surely under way: entered after it was leased, and left before released. */
	private final ConcurrentMap<Integer, UnderWay> underWay = new ConcurrentHashMap<>();

	private final AtomicInteger values = new AtomicInteger();

	private final AtomicInteger most = new AtomicInteger();

	private final AtomicInteger turnedAway = new AtomicInteger();

	private final ExecutorService executor = Executors.newFixedThreadPool(THREADS);

	@AfterEach
	void shutdown() {
		this.executor.shutdownNow();
	}

	/**
	 * Were a leased one evicted, the next call of its value would get other guards.
	 */
	@Test
	void callsOfOneValueShareItsGuardsAndNoMoreThanAllowedAreUnderWay() throws Exception {
		List<Future<?>> running = new ArrayList<>();
		for (int thread = 0; thread < THREADS; thread++) {
			SplittableRandom random = new SplittableRandom(thread);
			running.add(this.executor.submit(() -> call(random)));
		}
		for (Future<?> thread : running) {
			thread.get(60, TimeUnit.SECONDS);
		}
		assertThat(this.most).hasValue(MAX_KEYS);
		assertThat(this.turnedAway).as("some of the calls for which there was no room").hasPositiveValue();
		assertThat(this.providers.size()).isEqualTo(MAX_KEYS);
		for (int i = 0; i < MAX_KEYS; i++) {
			assertThat(this.providers.lease("new " + i)).as("every lease has ended").isNotNull();
		}
		assertThat(this.providers.size()).isEqualTo(MAX_KEYS);
	}

	private void call(SplittableRandom random) {
		for (int i = 0; i < CALLS; i++) {
			Integer key = random.nextInt(KEYS);
			KeyedProvider keyed = this.providers.lease(key);
			if (keyed == null) {
				this.turnedAway.incrementAndGet();
			}
			else {
				enter(key, keyed);
				for (int spin = random.nextInt(20); spin > 0; spin--) {
					Thread.onSpinWait();
				}
				leave(key);
				keyed.release();
			}
		}
	}

	private void enter(Integer key, KeyedProvider keyed) {
		this.underWay.compute(key, (same, before) -> {
			if (before == null) {
				int now = this.values.incrementAndGet();
				this.most.accumulateAndGet(now, Math::max);
				return new UnderWay(keyed, 1);
			}
			assertThat(keyed).isSameAs(before.keyed());
			return new UnderWay(keyed, before.calls() + 1);
		});
	}

	private void leave(Integer key) {
		this.underWay.computeIfPresent(key, (same, before) -> {
			if (before.calls() > 1) {
				return new UnderWay(before.keyed(), before.calls() - 1);
			}
			this.values.decrementAndGet();
			return null;
		});
	}

	private record UnderWay(KeyedProvider keyed, int calls) {

	}

}
