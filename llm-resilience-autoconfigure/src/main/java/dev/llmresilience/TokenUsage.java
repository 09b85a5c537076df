package dev.llmresilience;

/**
 * The tokens that a call has used. Immutable.
 *
 * @param input tokens of the request that count against its limit
 * @param output tokens of the answer
 */
public record TokenUsage(long input, long output) {

	/**
	 * Creates a usage.
	 * @throws IllegalArgumentException if a number is negative
	 */
	public TokenUsage {
		if (input < 0 || output < 0) {
			throw new IllegalArgumentException("Tokens must not be negative: " + input + " and " + output);
		}
	}

	/**
	 * Input and output together.
	 * @return the number of tokens
	 */
	public long total() {
		return this.input + this.output;
	}

}
