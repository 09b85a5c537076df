package dev.llmresilience;

/**
 * What kind of failure a call to a model met. The kind decides which ladder pays for a
 * retry, what the circuit breaker makes of it, and whether another attempt can help at
 * all.
 *
 * @see LlmFailure
 */
public enum FailureKind {

	/**
	 * The provider said "slow down" and means it for a short while: a 429 that passes.
	 */
	RATE_LIMITED(Ladder.RATE_LIMIT, BreakerEffect.NEUTRAL),

	/**
	 * The provider as a whole is too busy, whoever asks: 529, 503.
	 */
	OVERLOADED(Ladder.RATE_LIMIT, BreakerEffect.FAILURE),

	/**
	 * The provider broke: 500 and other 5xx.
	 */
	SERVER_ERROR(Ladder.TRANSPORT, BreakerEffect.FAILURE),

	/**
	 * No answer in time: 408, 502, 504, a read timeout, our own attempt timeout. Whether
	 * the request took effect is unknown.
	 */
	TIMEOUT(Ladder.TRANSPORT, BreakerEffect.FAILURE),

	/**
	 * The connection failed: refused, reset, unknown host, TLS transport.
	 */
	CONNECTION(Ladder.TRANSPORT, BreakerEffect.FAILURE),

	/**
	 * A concurrent change that may be gone next time: 409, 425.
	 */
	CONFLICT(Ladder.TRANSPORT, BreakerEffect.NEUTRAL),

	/**
	 * Money or a long quota has run out: spend cap, credit balance, daily or monthly
	 * quota, billing, whatever the status says.
	 */
	QUOTA_EXHAUSTED(Ladder.NONE, BreakerEffect.NEUTRAL),

	/**
	 * The request can never fit: larger than the limit, 413, context length.
	 */
	TOO_LARGE(Ladder.NONE, BreakerEffect.SUCCESS),

	/**
	 * The key is not accepted or lacks a permission: 401, 403.
	 */
	UNAUTHORIZED(Ladder.NONE, BreakerEffect.NEUTRAL),

	/**
	 * The request is wrong and stays wrong: 400, 404, 405, 415, 422, content filter.
	 */
	INVALID_REQUEST(Ladder.NONE, BreakerEffect.SUCCESS),

	/**
	 * The set-up is wrong: certificate, host name verification, 3xx, 501, 505.
	 */
	MISCONFIGURED(Ladder.NONE, BreakerEffect.NEUTRAL),

	/**
	 * The caller's own exception, an {@link Error}, or output that did not parse.
	 */
	APPLICATION(Ladder.NONE, BreakerEffect.NEUTRAL),

	/**
	 * The caller went away: interrupt, cancel, shutdown, 499.
	 */
	CANCELLED(Ladder.NONE, BreakerEffect.NEUTRAL);

	private final Ladder ladder;

	private final BreakerEffect breakerEffect;

	FailureKind(Ladder ladder, BreakerEffect breakerEffect) {
		this.ladder = ladder;
		this.breakerEffect = breakerEffect;
	}

	/**
	 * The count that a retry after this kind is charged to.
	 * @return the ladder, {@link Ladder#NONE} for a kind that is never retried
	 */
	public Ladder ladder() {
		return this.ladder;
	}

	/**
	 * What one failure of this kind tells the circuit breaker.
	 * @return the effect
	 */
	public BreakerEffect breakerEffect() {
		return this.breakerEffect;
	}

	/**
	 * The count that retries are charged to. The two ladders are independent, so that a
	 * storm of rate limits cannot eat the retries meant for a broken connection.
	 */
	public enum Ladder {

		/** Never retried. */
		NONE,

		/** Failures on the way to the provider, and within it. */
		TRANSPORT,

		/** The provider rations or sheds load. */
		RATE_LIMIT

	}

	/**
	 * What an outcome tells the circuit breaker.
	 */
	public enum BreakerEffect {

		/** The provider answered, so it is up. */
		SUCCESS,

		/** The provider failed. */
		FAILURE,

		/** Says nothing about the provider's health: the place is given back. */
		NEUTRAL

	}

}
