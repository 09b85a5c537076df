package dev.llmresilience;

import org.jspecify.annotations.Nullable;

/**
 * What a {@link RecoveryStrategy} wants done about a failure. Immutable.
 */
public sealed interface Recovery {

	/**
	 * Run the method again, after a wait. Taken for {@link #fail()} where no further run
	 * is allowed: see {@link RecoveryStrategy}.
	 * @return the answer
	 */
	static Recovery retry() {
		return new Retry();
	}

	/**
	 * Go on as if the method had returned a value.
	 * @param value the value, of the method's return type; {@code null} for a method that
	 * returns nothing
	 * @return the answer
	 */
	static Recovery skip(@Nullable Object value) {
		return new Skip(value);
	}

	/**
	 * Let the failure reach the caller.
	 * @return the answer
	 */
	static Recovery fail() {
		return new Fail();
	}

	/**
	 * Run the method again.
	 */
	record Retry() implements Recovery {
	}

	/**
	 * Go on with a value.
	 *
	 * @param value the value
	 */
	record Skip(@Nullable Object value) implements Recovery {

		/** Says nothing about the value, because answers do not belong in a log. */
		@Override
		public String toString() {
			return "Skip[]";
		}

	}

	/**
	 * Let the failure reach the caller.
	 */
	record Fail() implements Recovery {
	}

}
