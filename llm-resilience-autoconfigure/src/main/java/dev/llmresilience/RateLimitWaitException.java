package dev.llmresilience;

import java.io.Serial;
import java.time.Duration;
import java.time.Instant;

/**
 * Refused because the limiter could not have let the call out in time. Nothing was taken
 * from it.
 */
public final class RateLimitWaitException extends LlmCallRefusedException {

	@Serial
	private static final long serialVersionUID = 1L;

	private static final Duration NEVER = Duration.ofNanos(Long.MAX_VALUE);

	private final Duration neededWait;

	private final String limitedBy;

	/**
	 * Creates the exception.
	 * @param provider the name of the provider entry
	 * @param neededWait how long the call would have had to wait
	 * @param limitedBy the property that would have to be larger to allow that wait
	 * @param retryAt when a call could leave
	 */
	public RateLimitWaitException(String provider, Duration neededWait, String limitedBy, Instant retryAt) {
		super("Limiter of '" + provider + "' has no place in time: the wait would be " + neededWait.toMillis()
				+ " ms, more than " + limitedBy + " allows", provider, GiveUpReason.LIMITER, retryAt);
		this.neededWait = neededWait;
		this.limitedBy = limitedBy;
	}

	private RateLimitWaitException(String message, String provider, String limitedBy) {
		super(message, provider, GiveUpReason.LIMITER, null);
		this.neededWait = NEVER;
		this.limitedBy = limitedBy;
	}

	/**
	 * Creates the exception of a call that is larger than the whole limit.
	 * @param provider the name of the provider entry
	 * @param limitedBy the property that would have to be larger to allow the call
	 * @return the exception
	 */
	public static RateLimitWaitException never(String provider, String limitedBy) {
		return new RateLimitWaitException(
				"Limiter of '" + provider
						+ "' can never let the call out: its estimated tokens are more than the whole of " + limitedBy,
				provider, limitedBy);
	}

	/**
	 * How long the call would have had to wait.
	 * @return the wait; 292 years, the most that nanoseconds can count, for a call that
	 * is larger than the whole limit
	 */
	public Duration neededWait() {
		return this.neededWait;
	}

	/**
	 * The property that would have to be larger to allow that wait.
	 * @return the name of the property
	 */
	public String limitedBy() {
		return this.limitedBy;
	}

}
