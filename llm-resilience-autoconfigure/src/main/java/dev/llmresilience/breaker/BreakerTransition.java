package dev.llmresilience.breaker;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A change of state of a circuit breaker. Published as an application event too.
 *
 * @param provider the name of the provider entry
 * @param from the state before
 * @param to the state after
 * @param at when it happened
 * @param nextTrialAt when the next trial call may go out, for a breaker that opened
 * @param cause the failure that opened it, or {@code null}
 */
public record BreakerTransition(String provider, BreakerState from, BreakerState to, Instant at,
		@Nullable Instant nextTrialAt, @Nullable LastFailure cause) {
}
