package dev.llmresilience.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.CircuitOpenException;
import dev.llmresilience.breaker.BreakerSettings;
import dev.llmresilience.breaker.QuotaLatch;
import dev.llmresilience.engine.BlockingDriver;
import dev.llmresilience.engine.CallEngine;
import dev.llmresilience.engine.GuardListener;
import dev.llmresilience.engine.Provider;
import dev.llmresilience.engine.ProviderSettings;
import dev.llmresilience.failure.DefaultFailureClassifier;
import dev.llmresilience.time.SystemTimeSource;

/**
 * Many callers at the end of an open breaker's cool-down, with the provider still down:
 * how many requests are sent, and how soon the others are refused. Runs with 50 threads,
 * and on Java 21 and later with 1,000 virtual threads too.
 */
public final class TrialRush {

	private static final int ROUNDS = 20;

	private static final Duration OPEN = Duration.ofMillis(50);

	private TrialRush() {
	}

	/**
	 * Measures.
	 * @param args none
	 * @throws Exception if a round fails
	 */
	public static void main(String[] args) throws Exception {
		measure("threads", 50, Executors.newFixedThreadPool(50));
		try {
			measure("virtual threads", 1000,
					(ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null));
		}
		catch (NoSuchMethodException ex) {
			System.out.println("virtual threads: not on this Java");
		}
	}

	private static void measure(String name, int callers, ExecutorService executor) throws Exception {
		List<Long> refusals = new ArrayList<>();
		int most = 0;
		for (int round = 0; round < ROUNDS; round++) {
			AtomicInteger requests = new AtomicInteger();
			List<Long> times = rush(callers, executor, requests);
			// The first rounds only warm the code.
			if (round >= ROUNDS / 2) {
				refusals.addAll(times);
			}
			most = Math.max(most, requests.get());
		}
		executor.shutdown();
		long[] sorted = refusals.stream().mapToLong(Long::longValue).sorted().toArray();
		System.out.printf(
				"%s: %d callers, at most %d request in each of %d rounds, refused within p50 %.3f ms, "
						+ "p99 %.3f ms, at most %.3f ms%n",
				name, callers, most, ROUNDS, at(sorted, 0.5), at(sorted, 0.99), at(sorted, 1));
	}

	private static double at(long[] sorted, double share) {
		return sorted[(int) Math.min(sorted.length - 1.0, sorted.length * share)] / 1e6;
	}

	private static List<Long> rush(int callers, ExecutorService executor, AtomicInteger requests) throws Exception {
		BreakerSettings defaults = BreakerSettings.DEFAULTS;
		BreakerSettings breaker = new BreakerSettings(1, null, defaults.windowSize(), null, OPEN,
				defaults.maxOpenDuration(), defaults.trialTimeout());
		ProviderSettings base = ProviderSettings.defaults("down");
		ProviderSettings settings = new ProviderSettings("down", base.type(), "down", List.of(),
				base.policy().withAttempts(1, 0), base.calls(), base.limiter(), null, base.budget(), breaker,
				base.quotaCoolDown());
		try (SystemTimeSource time = new SystemTimeSource();
				CallEngine engine = new CallEngine(time, new DefaultFailureClassifier())) {
			QuotaLatch account = new QuotaLatch("down", base.quotaCoolDown(), time, GuardListener.NONE::onTransition);
			Provider provider = new Provider(settings, account, time, GuardListener.NONE);
			BlockingDriver driver = new BlockingDriver(engine);
			call(driver, provider, new AtomicInteger());
			CountDownLatch start = new CountDownLatch(1);
			List<Future<Long>> running = new ArrayList<>();
			for (int i = 0; i < callers; i++) {
				running.add(executor.submit(() -> {
					start.await();
					return call(driver, provider, requests);
				}));
			}
			time.waiter().await(OPEN.toNanos() * 2);
			start.countDown();
			List<Long> times = new ArrayList<>();
			for (Future<Long> future : running) {
				times.add(future.get());
			}
			times.removeAll(Arrays.asList(-1L));
			return times;
		}
	}

	/**
	 * Calls the dead provider, which takes half a second to fail, and times a refusal.
	 */
	private static long call(BlockingDriver driver, Provider provider, AtomicInteger requests) {
		long start = System.nanoTime();
		try {
			driver.call(provider, provider.options(), () -> {
				requests.incrementAndGet();
				new CountDownLatch(1).await(500, java.util.concurrent.TimeUnit.MILLISECONDS);
				throw new java.net.SocketTimeoutException("Read timed out");
			}, null);
			throw new IllegalStateException("A dead provider answered");
		}
		catch (CircuitOpenException ex) {
			return System.nanoTime() - start;
		}
		catch (Throwable ex) {
			return -1;
		}
	}

}
