package dev.llmresilience.failure;

import dev.llmresilience.FailureKind;

/**
 * What an error status means where the body does not know better.
 */
final class StatusTable {

	private StatusTable() {
	}

	/**
	 * Looks a status up.
	 * @param status an HTTP status that is no success, standard or not
	 * @return the kind
	 */
	static FailureKind kind(int status) {
		return switch (status) {
			case 429 -> FailureKind.RATE_LIMITED;
			case 503, 529 -> FailureKind.OVERLOADED;
			case 408, 502, 504 -> FailureKind.TIMEOUT;
			case 409, 425 -> FailureKind.CONFLICT;
			case 402 -> FailureKind.QUOTA_EXHAUSTED;
			case 413 -> FailureKind.TOO_LARGE;
			// 498 is "invalid token" except at Groq, whose capacity_exceeded tells.
			case 401, 403, 498 -> FailureKind.UNAUTHORIZED;
			case 407, 501, 505 -> FailureKind.MISCONFIGURED;
			case 499 -> FailureKind.CANCELLED;
			default -> ofClass(status / 100);
		};
	}

	private static FailureKind ofClass(int hundreds) {
		return switch (hundreds) {
			case 4 -> FailureKind.INVALID_REQUEST;
			case 5 -> FailureKind.SERVER_ERROR;
			default -> FailureKind.MISCONFIGURED;
		};
	}

}
