package dev.llmresilience.failure;

import java.time.Instant;

/**
 * What is known around a failure that the throwable itself does not tell.
 *
 * @param type whose rules judge it
 * @param now the wall clock, to turn dates into durations
 * @param interrupted whether the calling thread's interrupt flag was set when the attempt
 * ended, and not by us
 */
public record FailureContext(ProviderType type, Instant now, boolean interrupted) {
}
