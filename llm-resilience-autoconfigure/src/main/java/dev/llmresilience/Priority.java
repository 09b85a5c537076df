package dev.llmresilience;

/**
 * How urgent a call is to those who wait for the same limiter. While several wait, each
 * level gets a share of the rate, so that none starves: of 21 slots that all three want,
 * 16 go to {@link #HIGH}, 4 to {@link #NORMAL} and 1 to {@link #LOW}.
 */
public enum Priority {

	/** Somebody is looking at the screen. */
	HIGH,

	/** Everything that says nothing else. */
	NORMAL,

	/** Batches. */
	LOW

}
