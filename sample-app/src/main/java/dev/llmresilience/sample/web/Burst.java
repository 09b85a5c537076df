package dev.llmresilience.sample.web;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.sample.Upstream;
import dev.llmresilience.sample.chat.Chat;
import dev.llmresilience.sample.provider.EmbeddedProvider;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * Calls that start at the same moment, each on a thread of its own.
 */
final class Burst {

	private static final Logger logger = LoggerFactory.getLogger(Burst.class);

	private static final String PROMPT = "Say hello";

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
		ExecutorService threads = Executors.newFixedThreadPool(this.calls, new CustomizableThreadFactory("burst-"));
		try {
			warmUp(upstream, threads);
			upstream.awaitFullBuckets();
			upstream.resetCounts();
			return BurstResult.of(this.calls, fire(threads), EmbeddedProvider.tokens(PROMPT), upstream);
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
		this.chat.ask(PROMPT);
		return System.nanoTime();
	}

	private <T> List<T> onEachThread(ExecutorService threads, Callable<T> task) throws InterruptedException {
		List<T> results = new ArrayList<>();
		Map<String, Integer> failures = new TreeMap<>();
		for (Future<T> future : threads.invokeAll(Collections.nCopies(this.calls, task))) {
			try {
				results.add(future.get());
			}
			catch (ExecutionException ex) {
				failures.merge(describe(ex.getCause()), 1, Integer::sum);
			}
		}
		if (!failures.isEmpty()) {
			logger.warn("Of {} calls to '{}' failed: {}", this.calls, this.chat.upstream().name(), failures);
		}
		return results;
	}

	private static String describe(@Nullable Throwable failure) {
		if (failure instanceof LlmCallRefusedException refused) {
			return "refused (" + refused.reason() + ")";
		}
		LlmCallReport report = LlmCallReport.find(failure);
		return (report != null) ? report.lastKind() + " (" + report.reason() + ")" : String.valueOf(failure);
	}

}
