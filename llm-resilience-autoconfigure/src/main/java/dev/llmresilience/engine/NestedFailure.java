package dev.llmresilience.engine;

import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallRefusedException;
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

	static boolean isGone(GiveUpReason reason) {
		return reason == GiveUpReason.CANCELLED || reason == GiveUpReason.SHUTDOWN;
	}

}
