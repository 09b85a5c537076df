package dev.llmresilience;

import java.io.Serial;
import java.time.Duration;

/**
 * An attempt took longer than it may. Thrown where there is no exception of the client
 * library, because the attempt did not end by itself: by futures, by streams, and by
 * attempts on a worker thread. It counts as {@link FailureKind#TIMEOUT}.
 */
public class AttemptTimeoutException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final Duration timeout;

	/**
	 * Creates an exception.
	 * @param provider the name of the provider entry
	 * @param what what did not come in time, such as {@code "answer"}
	 * @param timeout the time that it had
	 */
	public AttemptTimeoutException(String provider, String what, Duration timeout) {
		super("No " + what + " from '" + provider + "' within " + timeout.toMillis() + " ms");
		this.timeout = timeout;
	}

	/**
	 * The time that the attempt had.
	 * @return the time
	 */
	public Duration timeout() {
		return this.timeout;
	}

}
