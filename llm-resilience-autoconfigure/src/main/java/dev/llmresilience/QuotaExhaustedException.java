package dev.llmresilience;

import java.io.Serial;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Refused because an earlier call has shown that a quota is exhausted, and it is not yet
 * time to probe whether it is back.
 */
public final class QuotaExhaustedException extends LlmCallRefusedException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final @Nullable Instant resetAt;

	/**
	 * Creates the exception.
	 * @param provider the name of the provider entry
	 * @param resetAt when the quota comes back as far as the provider said, or
	 * {@code null}
	 * @param nextProbeAt when the next call is let out to see whether it is back
	 */
	public QuotaExhaustedException(String provider, @Nullable Instant resetAt, Instant nextProbeAt) {
		super("Quota of '" + provider + "' is exhausted: calls are refused, the next probe goes out at " + nextProbeAt
				+ ((resetAt != null) ? ", the provider named " + resetAt + " for its return" : ""), provider,
				GiveUpReason.QUOTA, (resetAt != null) ? resetAt : nextProbeAt);
		this.resetAt = resetAt;
	}

	/**
	 * When the quota comes back, as far as the provider said.
	 * @return the instant, or {@code null} where unknown
	 */
	public @Nullable Instant resetAt() {
		return this.resetAt;
	}

}
