package dev.llmresilience.engine;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport.WaitCause;
import org.jspecify.annotations.Nullable;

/**
 * Counts what the calls of one provider entry do, those under its keys included. Told on
 * the thread that goes on with the call. Implementations must be thread-safe and quick,
 * and must not throw.
 */
public interface CallMonitor {

	/** Counts nothing. */
	CallMonitor NONE = new CallMonitor() {
	};

	/**
	 * An attempt is over.
	 * @param kind what kind of failure it met, or {@code null} if it succeeded
	 */
	default void attemptEnded(@Nullable FailureKind kind) {
	}

	/**
	 * A call has waited for its turn in the queue of the limiter.
	 * @param nanos how long, in nanoseconds
	 */
	default void limiterWaited(long nanos) {
	}

	/**
	 * A retry has been decided upon.
	 * @param cause why it waits
	 * @param nanos how long it waits, in nanoseconds, apart from the limiter
	 * @param tokens the tokens that are estimated to be sent again, 0 if unknown
	 */
	default void retries(WaitCause cause, long nanos, long tokens) {
	}

	/**
	 * A call has waited for the breaker to let it in.
	 * @param nanos how long, in nanoseconds
	 */
	default void breakerWaited(long nanos) {
	}

	/**
	 * A call is over.
	 * @param reason why it was given up, or {@code null} if it succeeded
	 * @param nanos how long it took, waits included, in nanoseconds
	 */
	default void ended(@Nullable GiveUpReason reason, long nanos) {
	}

	/**
	 * A call has failed over.
	 * @param target the name of the provider entry that takes over
	 */
	default void failedOver(String target) {
	}

	/**
	 * Something would have been done to a call that is only observed.
	 * @param intervention what
	 */
	default void observed(Intervention intervention) {
	}

	/** A call shares an equal one that is under way. */
	default void deduplicated() {
	}

	/**
	 * What is done to calls, unless they are only observed.
	 */
	enum Intervention {

		/** The call has to wait for its turn at the limiter, or for the open breaker. */
		DELAYED,

		/** The call is refused by a guard. */
		REFUSED,

		/** Its attempt is made again. */
		RETRIED,

		/** Another provider entry takes over. */
		FAILED_OVER

	}

	/**
	 * Makes monitors.
	 */
	@FunctionalInterface
	interface Factory {

		/** For nobody who counts. */
		Factory NONE = (provider) -> CallMonitor.NONE;

		/**
		 * Makes the monitor of a provider entry. Asked once, when the first call is made
		 * under it.
		 * @param provider the entry
		 * @return the monitor
		 */
		CallMonitor of(Provider provider);

	}

}
