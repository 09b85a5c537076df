package dev.llmresilience;

import java.io.Serial;

import org.jspecify.annotations.Nullable;

/**
 * A call that returned normally, but whose result is a failure: an error object inside a
 * successful response, an answer without choices, a generation that ended in an error.
 * Thrown where the client library threw nothing; says what kind of failure it was, and
 * nothing of the text.
 */
public final class LlmResultException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final transient @Nullable LlmFailure failure;

	private final FailureKind kind;

	/**
	 * Creates the exception.
	 * @param failure what the result tells
	 */
	public LlmResultException(LlmFailure failure) {
		super("The call returned a result that is a failure: " + failure.kind()
				+ ((failure.code() != null) ? " (" + failure.code() + ")" : ""));
		this.failure = failure;
		this.kind = failure.kind();
	}

	/**
	 * What the result tells.
	 * @return the failure; of an exception that was serialized, only its kind
	 */
	public LlmFailure failure() {
		return (this.failure != null) ? this.failure : LlmFailure.of(this.kind);
	}

}
