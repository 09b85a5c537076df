package dev.llmresilience.breaker;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A quota latch that shut calls off, or let them pass again. Published as an application
 * event too.
 *
 * @param scope what the latch holds for: the name of a provider entry or of an account
 * @param latched whether calls are now shut off
 * @param code the provider's code that shut them off, or {@code null}
 * @param resetAt when the quota comes back as far as the provider said, or {@code null}
 * @param nextProbeAt when the next probe goes out, or {@code null} if calls pass again
 * @param at when it happened
 */
public record QuotaTransition(String scope, boolean latched, @Nullable String code, @Nullable Instant resetAt,
		@Nullable Instant nextProbeAt, Instant at) {
}
