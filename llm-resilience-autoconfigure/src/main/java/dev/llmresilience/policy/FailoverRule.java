package dev.llmresilience.policy;

import java.util.Set;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmFailure;
import org.jspecify.annotations.Nullable;

/**
 * Whether another provider may take over a call that has failed for good. Pure.
 */
public final class FailoverRule {

	private static final int NOT_FOUND = 404;

	private FailoverRule() {
	}

	/**
	 * Decides whether another provider may take over.
	 * @param on the kinds of failure that one takes over after
	 * @param reason why the call was given up
	 * @param failure its last failure, or {@code null} if it was refused before its first
	 * attempt
	 * @param sideEffect whether something was done that must not be done twice
	 * @param mayRepeat whether a request may be made again whose outcome is unknown
	 * @return whether one may
	 */
	public static boolean allows(Set<FailureKind> on, GiveUpReason reason, @Nullable LlmFailure failure,
			boolean sideEffect, boolean mayRepeat) {
		if (sideEffect || (failure != null && failure.outcomeUnknown() && !mayRepeat)) {
			return false;
		}
		FailureKind kind = kind(reason, failure);
		if (kind == null || !on.contains(kind)) {
			return false;
		}
		return switch (kind) {
			case APPLICATION, CANCELLED -> false;
			// A model that is not there may be there elsewhere. What else is wrong with
			// a request stays wrong.
			case INVALID_REQUEST -> failure != null && failure.status() == NOT_FOUND;
			default -> true;
		};
	}

	/**
	 * The kind of failure that a call ended with. A guard's refusal counts as the kind
	 * that it guards against.
	 * @param reason why the call was given up
	 * @param failure its last failure, or {@code null} if it was refused before its first
	 * attempt
	 * @return the kind, or {@code null} for an end that nobody can take over from
	 */
	public static @Nullable FailureKind kind(GiveUpReason reason, @Nullable LlmFailure failure) {
		return switch (reason) {
			case CANCELLED, SHUTDOWN, SIDE_EFFECT, STREAM_BROKEN, OBSERVED -> null;
			case BREAKER -> (failure != null) ? failure.kind() : FailureKind.OVERLOADED;
			case QUOTA -> FailureKind.QUOTA_EXHAUSTED;
			case LIMITER -> FailureKind.RATE_LIMITED;
			case NOT_RETRYABLE, OUTCOME_UNKNOWN, DEADLINE, ATTEMPTS, RETRY_AFTER, BUDGET, RETRIES_OFF, NESTED ->
				(failure != null) ? failure.kind() : null;
		};
	}

}
