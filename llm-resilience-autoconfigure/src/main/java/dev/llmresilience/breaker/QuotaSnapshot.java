package dev.llmresilience.breaker;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * What a latched quota looked like at one moment. Immutable.
 *
 * @param code the provider's code, or {@code null}
 * @param since when it was found exhausted
 * @param resetAt when it comes back as far as the provider said, or {@code null}
 * @param nextProbeAt when the next call is let out to see whether it is back
 */
public record QuotaSnapshot(@Nullable String code, Instant since, @Nullable Instant resetAt, Instant nextProbeAt) {
}
