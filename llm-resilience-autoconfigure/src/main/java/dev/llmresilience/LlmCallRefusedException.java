package dev.llmresilience;

import java.io.Serial;
import java.time.Instant;
import java.util.concurrent.RejectedExecutionException;

import org.jspecify.annotations.Nullable;

/**
 * A call that was not let out to the provider, by a guard on this side. Never counts as a
 * failure of the provider.
 */
public abstract class LlmCallRefusedException extends RejectedExecutionException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String provider;

	private final GiveUpReason reason;

	private final @Nullable Instant retryAt;

	/**
	 * Creates the exception.
	 * @param message what was refused, why, and until when
	 * @param provider the name of the provider entry
	 * @param reason why the call was refused
	 * @param retryAt when it makes sense to call again, or {@code null} where unknown
	 */
	protected LlmCallRefusedException(String message, String provider, GiveUpReason reason, @Nullable Instant retryAt) {
		super(message);
		this.provider = provider;
		this.reason = reason;
		this.retryAt = retryAt;
	}

	/**
	 * The provider entry that was to be called.
	 * @return the name
	 */
	public String provider() {
		return this.provider;
	}

	/**
	 * Why the call was refused.
	 * @return the reason
	 */
	public GiveUpReason reason() {
		return this.reason;
	}

	/**
	 * When it makes sense to call again.
	 * @return the instant, or {@code null} where unknown
	 */
	public @Nullable Instant retryAt() {
		return this.retryAt;
	}

}
