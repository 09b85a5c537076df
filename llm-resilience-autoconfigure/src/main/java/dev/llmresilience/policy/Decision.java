package dev.llmresilience.policy;

import java.time.Duration;

import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport.WaitCause;
import org.jspecify.annotations.Nullable;

/**
 * What to do after a failed attempt.
 */
public sealed interface Decision {

	/**
	 * Wait, then try again.
	 *
	 * @param delayNanos the wait in nanoseconds, never negative
	 * @param backoffNanos the part of it that was drawn as backoff, which decorrelated
	 * jitter grows from
	 * @param spendsBudget whether the retry has to be paid for from the shared budget
	 */
	record Retry(long delayNanos, long backoffNanos, boolean spendsBudget) implements Decision {

		/** Without a wait of its own, and without a price. */
		public static final Retry NOW = new Retry(0, 0, false);

		/**
		 * Why it waits.
		 * @return the limiter where that paces the retry, or else what made the wait as
		 * long as it is
		 */
		public WaitCause cause() {
			return !this.spendsBudget ? WaitCause.LIMITER
					: (this.delayNanos > this.backoffNanos) ? WaitCause.HINT : WaitCause.BACKOFF;
		}

	}

	/**
	 * Make no further attempt.
	 *
	 * @param reason why not
	 * @param hint when the server said to come back, as a duration from now, or
	 * {@code null}
	 */
	record GiveUp(GiveUpReason reason, @Nullable Duration hint) implements Decision {
	}

}
