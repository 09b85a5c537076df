package dev.llmresilience.failure;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure.LatchScope;
import org.jspecify.annotations.Nullable;

/**
 * The words of one provider: what its error bodies mean where that is its own usage. What
 * all providers share (statuses, headers, the order in which the signs are believed)
 * stands once in {@link ResponseJudge}. Implementations are stateless.
 */
interface ProviderRules {

	/**
	 * What an error means where its status does not tell, or lies.
	 * @param status the status, {@code 0} where none is known
	 * @param body the error body
	 * @return the kind, or {@code null} to leave it to the status
	 */
	@Nullable FailureKind kind(int status, ErrorBody body);

	/**
	 * Whether an error is about money, an entitlement or a quota that is gone for long,
	 * whatever its status.
	 * @param status the status, {@code 0} where none is known
	 * @param body the error body
	 * @return what has run out, or {@code null} for another kind of error
	 */
	@Nullable Quota quota(int status, ErrorBody body);

	/**
	 * The header of a 429 that says when the window in which calls are counted begins
	 * anew, where this provider has one that can be taken as a wait.
	 * @return its name, or {@code null}
	 */
	default @Nullable String resetHeader() {
		return null;
	}

	/**
	 * Something that has run out and does not come back by waiting a little.
	 *
	 * @param code the provider's code for it, {@code null} where only its text told
	 * @param latch which calls it shuts off
	 * @param hinted whether the wait that the error asks for is to be believed
	 */
	record Quota(@Nullable String code, LatchScope latch, boolean hinted) {

		/** Told by text or status alone, which shuts nothing off. */
		static final Quota UNCODED = new Quota(null, LatchScope.NONE);

		Quota(@Nullable String code, LatchScope latch) {
			this(code, latch, true);
		}

	}

}
