package dev.llmresilience.policy;

/**
 * How chance shapes a backoff. With
 * {@code ceiling(n) = min(max-delay, base-delay * multiplier^(n-1))}, where {@code n}
 * counts the failures so far on the ladder, and {@code U} a uniform random number:
 * <p>
 * Full, equal and decorrelated jitter are those of Marc Brooker, "Exponential Backoff And
 * Jitter", AWS Architecture Blog, 2015.
 */
public enum Jitter {

	/** {@code U(0, ceiling)}: spreads callers that failed together best. */
	FULL {
		@Override
		long delay(long ceiling, long base, long max, long previous, double factor, double random) {
			return (long) (ceiling * random);
		}
	},

	/** {@code ceiling/2 + U(0, ceiling/2)}: keeps a minimum wait. */
	EQUAL {
		@Override
		long delay(long ceiling, long base, long max, long previous, double factor, double random) {
			return ceiling / 2 + (long) (ceiling / 2.0 * random);
		}
	},

	/** {@code min(max-delay, U(base-delay, previous * 3))}: grows by chance. */
	DECORRELATED {
		@Override
		long delay(long ceiling, long base, long max, long previous, double factor, double random) {
			double upper = Math.max((double) base, previous * 3.0);
			return (long) Math.min((double) max, base + (upper - base) * random);
		}
	},

	/** {@code ceiling * (1 + U(-f, +f))}, where {@code f} is the jitter factor. */
	PROPORTIONAL {
		@Override
		long delay(long ceiling, long base, long max, long previous, double factor, double random) {
			return (long) (ceiling * (1 + factor * (2 * random - 1)));
		}
	},

	/** {@code ceiling}: callers that failed together come back together. */
	NONE {
		@Override
		long delay(long ceiling, long base, long max, long previous, double factor, double random) {
			return ceiling;
		}
	};

	/**
	 * Computes a backoff. All times in nanoseconds.
	 * @param ceiling the exponential ceiling
	 * @param base the base delay
	 * @param max the largest delay
	 * @param previous the backoff before this one, the base delay if there was none
	 * @param factor the factor of {@link #PROPORTIONAL}
	 * @param random a number in {@code [0, 1)}
	 * @return the backoff, never negative
	 */
	abstract long delay(long ceiling, long base, long max, long previous, double factor, double random);

}
