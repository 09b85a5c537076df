package dev.llmresilience.failure;

import java.util.Map;

import dev.llmresilience.FailureKind;
import org.jspecify.annotations.Nullable;

/**
 * What the codes of one dialect mean. Most codes are too broad to beat a status
 * ({@code invalid_request_error} comes with a 401, too) and count only where there is no
 * status, as in streams. Stateless.
 */
final class CodeTable {

	private final Map<String, FailureKind> kinds;

	/**
	 * Creates a table.
	 * @param kinds the meanings of codes in lower case
	 */
	CodeTable(Map<String, FailureKind> kinds) {
		this.kinds = kinds;
	}

	/**
	 * Looks up the most telling code that has a meaning.
	 * @param status the status, {@code 0} for none
	 * @param body the error body
	 * @return the kind, or {@code null} where no code is known or the status knows better
	 */
	@Nullable FailureKind kind(int status, ErrorBody body) {
		FailureKind kind = body.meaning(this.kinds);
		return (kind != null && beats(kind, status)) ? kind : null;
	}

	/**
	 * Whether a word of the body is to be believed more than the status.
	 * @param kind what the word means
	 * @param status the status, {@code 0} for none
	 * @return {@code true} if it is
	 */
	static boolean beats(FailureKind kind, int status) {
		return status == 0 || switch (kind) {
			case TOO_LARGE, QUOTA_EXHAUSTED -> true;
			// A limit on money is named like any other limit.
			case RATE_LIMITED, OVERLOADED -> status != 402;
			// Several answer a wrong key with a 400.
			case UNAUTHORIZED -> status == 400;
			default -> false;
		};
	}

}
