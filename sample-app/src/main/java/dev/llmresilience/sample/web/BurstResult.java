package dev.llmresilience.sample.web;

import java.util.List;

import dev.llmresilience.sample.Upstream;
import dev.llmresilience.sample.provider.Counts;
import org.jspecify.annotations.Nullable;

/**
 * How a burst went. Times count from the first arrival at the provider to the answers'
 * arrival at the caller.
 *
 * @param calls calls made at once
 * @param answered calls that got an answer
 * @param failed calls that got none
 * @param requestsSent requests that arrived at the provider
 * @param rejected requests that the provider answered with 429
 * @param lastAnswerSeconds when the last answer came, {@code null} if none came
 * @param p95Seconds when 95 % of the answers had come, {@code null} if none came
 * @param floorSeconds the soonest that the provider's limits allow, {@code null} where
 * only the real provider knows them
 */
record BurstResult(int calls, int answered, int failed, long requestsSent, long rejected,
		@Nullable Double lastAnswerSeconds, @Nullable Double p95Seconds, @Nullable Double floorSeconds) {

	static BurstResult of(int calls, List<Long> answeredAt, int tokens, Upstream upstream) {
		Counts counts = upstream.counts();
		List<Long> inOrder = answeredAt.stream().sorted().toList();
		int p95 = (int) Math.ceil(inOrder.size() * 0.95);
		Double floor = (upstream.account() != null) ? upstream.account().limits().floorSeconds(calls, tokens) : null;
		return new BurstResult(calls, inOrder.size(), calls - inOrder.size(), counts.arrived(), counts.rejected(),
				seconds(inOrder, inOrder.size(), counts), seconds(inOrder, p95, counts), floor);
	}

	private static @Nullable Double seconds(List<Long> inOrder, int rank, Counts counts) {
		Long start = counts.firstArrival();
		if (start == null || inOrder.isEmpty()) {
			return null;
		}
		return Math.round((inOrder.get(rank - 1) - start) / 1e6) / 1e3;
	}

}
