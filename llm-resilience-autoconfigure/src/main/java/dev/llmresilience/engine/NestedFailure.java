package dev.llmresilience.engine;

import java.util.List;

import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmCallReport.Attempt;
import dev.llmresilience.LlmFailure;
import org.jspecify.annotations.Nullable;

/**
 * What a protected call within another one has already given up on.
 *
 * @param thrown what it threw
 * @param failure how that was judged, or {@code null} for a refusal
 * @param gone whether the caller, or the application, has gone away
 */
record NestedFailure(Throwable thrown, @Nullable LlmFailure failure, boolean gone) {

	private static final int MAX_DEPTH = 32;

	/**
	 * Finds it in what an attempt threw.
	 * @param thrown what it threw
	 * @param known what the last call within it ended with, or {@code null}
	 * @return it, or {@code null} if this is something else
	 */
	static @Nullable NestedFailure find(Throwable thrown, @Nullable NestedFailure known) {
		Throwable t = thrown;
		for (int depth = 0; t != null && depth < MAX_DEPTH; depth++) {
			if (known != null && t == known.thrown) {
				return known;
			}
			if (t instanceof LlmCallRefusedException refusal) {
				return new NestedFailure(t, null, isGone(refusal.reason()));
			}
			t = t.getCause();
		}
		return null;
	}

	/**
	 * What a call that shares the failure of an equal one knows of it.
	 * @param thrown what the other one threw
	 * @param report what it reported
	 * @return the failure
	 */
	static NestedFailure of(Throwable thrown, LlmCallReport report) {
		List<Attempt> attempts = report.attempts();
		Attempt last = attempts.isEmpty() ? null : attempts.get(attempts.size() - 1);
		LlmFailure failure = (last != null && last.kind() != null)
				? LlmFailure.of(last.kind()).withStatus(last.status()).withCode(last.code()).withSent(true) : null;
		return new NestedFailure(thrown, failure, false);
	}

	static boolean isGone(GiveUpReason reason) {
		return reason == GiveUpReason.CANCELLED || reason == GiveUpReason.SHUTDOWN;
	}

}
