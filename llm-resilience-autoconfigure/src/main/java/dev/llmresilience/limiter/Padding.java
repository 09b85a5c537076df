package dev.llmresilience.limiter;

/**
 * The number of a {@link PaddedLong}, and what keeps others from its cache lines, before
 * it and after. A virtual machine orders the fields of one class as it likes, but does
 * not mix them with those of the classes above and below.
 */
@SuppressWarnings("unused")
final class Padding {

	private Padding() {
	}

	/** As long as two cache lines, because many processors fetch them in pairs. */
	private abstract static class Before {

		private long a1, a2, a3, a4, a5, a6, a7, a8;

		private long b1, b2, b3, b4, b5, b6, b7, b8;

	}

	/** The number itself. */
	abstract static class Value extends Before {

		volatile long value;

	}

	/** As long as what comes before. */
	abstract static class After extends Value {

		private long a1, a2, a3, a4, a5, a6, a7, a8;

		private long b1, b2, b3, b4, b5, b6, b7, b8;

	}

}
