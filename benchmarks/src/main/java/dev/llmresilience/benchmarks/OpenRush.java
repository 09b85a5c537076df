package dev.llmresilience.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import dev.llmresilience.CircuitOpenException;
import dev.llmresilience.breaker.QuotaLatch;
import dev.llmresilience.engine.BlockingDriver;
import dev.llmresilience.engine.CallEngine;
import dev.llmresilience.engine.GuardListener;
import dev.llmresilience.engine.Provider;
import dev.llmresilience.engine.ProviderSettings;
import dev.llmresilience.failure.DefaultFailureClassifier;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.time.SystemTimeSource;
import dev.llmresilience.time.TimeSource.Waiter;

/**
 * 1,000 callers that wait for a limiter when the circuit breaker opens: how soon the last
 * of them has got its refusal. Beside it, in the same rounds, how long this machine takes
 * to wake as many threads that do nothing else. Runs with threads, and on Java 21 and
 * later with virtual threads too.
 */
public final class OpenRush {

	private static final int CALLERS = 1000;

	private static final int WARM_UP = 20;

	private static final int ROUNDS = 20;

	/** So few leave while the others wait, who all would within their 10 minutes. */
	private static final double PER_MINUTE = 200;

	/** Milliseconds until whoever has just queued up sleeps. */
	private static final int SETTLE = 20;

	private OpenRush() {
	}

	/**
	 * Measures.
	 * @param args none
	 * @throws Exception if a round fails
	 */
	public static void main(String[] args) throws Exception {
		measure("threads", Executors.newFixedThreadPool(CALLERS));
		try {
			measure("virtual threads",
					(ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null));
		}
		catch (NoSuchMethodException ex) {
			System.out.println("virtual threads: not on this Java");
		}
	}

	private static void measure(String name, ExecutorService executor) throws Exception {
		long[] refused = new long[ROUNDS];
		long[] woken = new long[ROUNDS];
		long cold = 0;
		for (int round = -WARM_UP; round < ROUNDS; round++) {
			long last = refuse(executor);
			long bare = wake(executor);
			if (round == -WARM_UP) {
				cold = last;
			}
			if (round >= 0) {
				refused[round] = last;
				woken[round] = bare;
			}
		}
		executor.shutdown();
		System.out.printf(
				"%s: %d callers, %d rounds, the last refused after %s; only woken after %s; "
						+ "before anything was compiled, refused after %.1f ms%n",
				name, CALLERS, ROUNDS, distribution(refused), distribution(woken), cold / 1e6);
	}

	private static String distribution(long[] nanos) {
		Arrays.sort(nanos);
		return String.format("%.1f ms at least, p50 %.1f ms, p90 %.1f ms, at most %.1f ms", nanos[0] / 1e6,
				nanos[nanos.length / 2] / 1e6, nanos[nanos.length * 9 / 10] / 1e6, nanos[nanos.length - 1] / 1e6);
	}

	/** Opens the breaker and times the last refusal. */
	private static long refuse(ExecutorService executor) throws Exception {
		ProviderSettings base = ProviderSettings.defaults("slow");
		ProviderSettings settings = new ProviderSettings("slow", base.type(), "slow", List.of(), base.policy(),
				base.calls(), base.limiter().withMode(LimiterMode.FIXED).withRate(PER_MINUTE, 1), null, base.budget(),
				base.breaker(), base.quotaCoolDown());
		try (SystemTimeSource time = new SystemTimeSource();
				CallEngine engine = new CallEngine(time, new DefaultFailureClassifier())) {
			QuotaLatch account = new QuotaLatch("slow", base.quotaCoolDown(), time, GuardListener.NONE::onTransition);
			Provider provider = new Provider(settings, account, time, GuardListener.NONE);
			BlockingDriver driver = new BlockingDriver(engine);
			List<Future<Long>> refusals = new ArrayList<>();
			for (int i = 0; i < CALLERS; i++) {
				refusals.add(executor.submit(() -> refusedAt(driver, provider)));
			}
			awaitWaiting(provider);
			long from = System.nanoTime();
			Objects.requireNonNull(provider.breaker()).forceOpen();
			return last(refusals) - from;
		}
	}

	/**
	 * Waits for all but those who may have left by then. In real time, like all of this;
	 * to spin would keep a processor from the threads that are to queue up.
	 */
	private static void awaitWaiting(Provider provider) throws InterruptedException {
		while (provider.limiter().waiting() < CALLERS - 10) {
			Thread.sleep(1);
		}
		settle();
	}

	/**
	 * What is measured is how soon the machine wakes its threads, so time is the real
	 * one; and nothing tells that a thread which has queued up sleeps by now.
	 */
	private static void settle() throws InterruptedException {
		Thread.sleep(SETTLE);
	}

	private static long refusedAt(BlockingDriver driver, Provider provider) {
		try {
			driver.call(provider, provider.options(), () -> "answer", null);
			return Long.MIN_VALUE;
		}
		catch (CircuitOpenException ex) {
			return System.nanoTime();
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static long last(List<Future<Long>> moments) throws Exception {
		long last = Long.MIN_VALUE;
		for (Future<Long> moment : moments) {
			last = Math.max(last, moment.get());
		}
		return last;
	}

	/** Wakes threads that wait in the same way. */
	private static long wake(ExecutorService executor) throws Exception {
		try (SystemTimeSource time = new SystemTimeSource()) {
			Queue<Waiter> waiters = new ConcurrentLinkedQueue<>();
			CountDownLatch ready = new CountDownLatch(CALLERS);
			List<Future<Long>> awake = new ArrayList<>();
			for (int i = 0; i < CALLERS; i++) {
				awake.add(executor.submit(() -> {
					Waiter waiter = time.waiter();
					waiters.add(waiter);
					ready.countDown();
					waiter.await(Duration.ofMinutes(1).toNanos());
					return System.nanoTime();
				}));
			}
			ready.await();
			settle();
			long from = System.nanoTime();
			waiters.forEach(Waiter::signal);
			return last(awake) - from;
		}
	}

}
