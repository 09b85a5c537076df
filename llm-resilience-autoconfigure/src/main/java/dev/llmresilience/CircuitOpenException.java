package dev.llmresilience;

import java.io.Serial;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Refused because the circuit breaker of the provider entry is open, or because its one
 * trial call is already on its way.
 */
public final class CircuitOpenException extends LlmCallRefusedException {

	@Serial
	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param provider the name of the provider entry
	 * @param retryAt when the next trial call may go out, or {@code null} where that
	 * depends on a call in flight or on an operator
	 */
	public CircuitOpenException(String provider, @Nullable Instant retryAt) {
		super("Circuit breaker of '" + provider + "' is open"
				+ ((retryAt != null) ? ": next trial call at " + retryAt : ""), provider, GiveUpReason.BREAKER,
				retryAt);
	}

}
