package dev.llmresilience.breaker;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * What a circuit breaker looked like at one moment.
 *
 * @param state the state
 * @param consecutiveFailures failures since the last success
 * @param failureThreshold consecutive failures that open it
 * @param openedAt when it opened, or {@code null} while it lets calls pass
 * @param nextTrialAt when the next trial call may go out, or {@code null} where none is
 * due
 * @param trialInFlight whether a trial call is on its way
 * @param rejectedCalls calls refused since it opened
 * @param lastFailure the last failure that was counted, or {@code null}
 */
public record BreakerSnapshot(BreakerState state, int consecutiveFailures, int failureThreshold,
		@Nullable Instant openedAt, @Nullable Instant nextTrialAt, boolean trialInFlight, long rejectedCalls,
		@Nullable LastFailure lastFailure) {
}
