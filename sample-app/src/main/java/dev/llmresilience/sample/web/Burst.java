package dev.llmresilience.sample.web;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import dev.llmresilience.sample.Upstream;
import dev.llmresilience.sample.chat.Chat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls that start at the same moment, each on a thread of its own.
 */
final class Burst {

	private static final Logger logger = LoggerFactory.getLogger(Burst.class);

	private final Chat chat;

	private final int calls;

	Burst(Chat chat, int calls) {
		this.chat = chat;
		this.calls = calls;
	}

	/**
	 * Runs the burst to its end.
	 * @return the result
	 * @throws InterruptedException if the thread is interrupted
	 */
	BurstResult run() throws InterruptedException {
		Upstream upstream = this.chat.upstream();
		ExecutorService threads = Executors.newFixedThreadPool(this.calls);
		try {
			warmUp(upstream, threads);
			upstream.awaitFullBuckets();
			upstream.resetCounts();
			return BurstResult.of(this.calls, fire(threads), upstream);
		}
		finally {
			threads.shutdownNow();
		}
	}

	private void warmUp(Upstream upstream, ExecutorService threads) throws InterruptedException {
		if (upstream.account() == null) {
			return;
		}
		upstream.account().gatherWarmUps(this.calls);
		onEachThread(threads, () -> {
			this.chat.warmUp();
			return true;
		});
	}

	private List<Long> fire(ExecutorService threads) throws InterruptedException {
		CyclicBarrier start = new CyclicBarrier(this.calls);
		return onEachThread(threads, () -> answeredAt(start));
	}

	private long answeredAt(CyclicBarrier start) throws InterruptedException, BrokenBarrierException {
		start.await();
		this.chat.ask("Say hello");
		return System.nanoTime();
	}

	private <T> List<T> onEachThread(ExecutorService threads, Callable<T> task) throws InterruptedException {
		List<T> results = new ArrayList<>();
		for (Future<T> future : threads.invokeAll(Collections.nCopies(this.calls, task))) {
			try {
				results.add(future.get());
			}
			catch (ExecutionException ex) {
				logger.debug("A call of the burst failed", ex.getCause());
			}
		}
		return results;
	}

}
