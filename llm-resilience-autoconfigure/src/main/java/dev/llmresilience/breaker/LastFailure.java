package dev.llmresilience.breaker;

import java.time.Instant;

import dev.llmresilience.FailureKind;

/**
 * The last failure that a circuit breaker counted.
 *
 * @param kind what kind of failure
 * @param status the HTTP status, {@code 0} where there was none
 * @param at when it was counted
 */
public record LastFailure(FailureKind kind, int status, Instant at) {
}
