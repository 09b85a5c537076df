package dev.llmresilience;

import java.io.Serial;

/**
 * Refused because the time for the whole call was over before an attempt could be made.
 */
public final class DeadlineExceededException extends LlmCallRefusedException {

	@Serial
	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param provider the name of the provider entry
	 */
	public DeadlineExceededException(String provider) {
		super("The time for the call to '" + provider + "' was over before an attempt could be made", provider,
				GiveUpReason.DEADLINE, null);
	}

}
