package dev.llmresilience;

import java.io.Serial;

import org.jspecify.annotations.Nullable;

/**
 * Refused because the application is shutting down. Calls that were waiting end with it
 * too; the failure that they were waiting to retry is then the cause.
 */
public final class ShutdownException extends LlmCallRefusedException {

	@Serial
	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param provider the name of the provider entry
	 * @param cause the last failure of the call, or {@code null} if no attempt was made
	 */
	public ShutdownException(String provider, @Nullable Throwable cause) {
		super("The call to '" + provider + "' ends: the application is shutting down", provider, GiveUpReason.SHUTDOWN,
				null);
		if (cause != null) {
			initCause(cause);
		}
	}

}
