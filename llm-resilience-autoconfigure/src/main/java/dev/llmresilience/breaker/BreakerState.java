package dev.llmresilience.breaker;

/**
 * The state of a {@link CircuitBreaker}.
 */
public enum BreakerState {

	/** Calls pass, failures are counted. */
	CLOSED,

	/** Calls are refused until it is time for a trial. */
	OPEN,

	/** One trial call is let out at a time; all others are refused. */
	HALF_OPEN,

	/** Calls are refused until an operator says otherwise. */
	FORCED_OPEN,

	/** Calls pass, and nothing is counted, until an operator says otherwise. */
	DISABLED

}
