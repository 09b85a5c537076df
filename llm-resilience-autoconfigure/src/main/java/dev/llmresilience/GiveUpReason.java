package dev.llmresilience;

/**
 * Why a call was given up.
 */
public enum GiveUpReason {

	/** The caller went away: interrupt or cancel. */
	CANCELLED,

	/** The application is shutting down. */
	SHUTDOWN,

	/** A failure of this kind never passes, or an explicit word forbids the retry. */
	NOT_RETRYABLE,

	/** Something was done that must not be done twice. */
	SIDE_EFFECT,

	/** It is unknown whether the request took effect, and it may not run twice. */
	OUTCOME_UNKNOWN,

	/** The time for the whole call is over, or would be before the next attempt. */
	DEADLINE,

	/** The ladder that pays for this kind of failure is spent. */
	ATTEMPTS,

	/** The server wants a longer wait than the policy or the time left allows. */
	RETRY_AFTER,

	/** The shared retry budget is empty. */
	BUDGET,

	/** An operator has switched the retries of the provider entry off. */
	RETRIES_OFF,

	/** The circuit breaker is open. */
	BREAKER,

	/** The limiter cannot let the call out in time. */
	LIMITER,

	/** A quota is exhausted, and calls are shut off until it is probed again. */
	QUOTA,

	/** A protected call within this one has already given up on this failure. */
	NESTED,

	/** Calls are only observed: it would have been made again. */
	OBSERVED,

	/** A stream broke after its first element, which nobody can take back. */
	STREAM_BROKEN

}
