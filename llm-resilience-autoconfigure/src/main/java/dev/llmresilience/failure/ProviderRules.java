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
	 * What an error's code or type means.
	 * @param body the error body
	 * @return the kind, or {@code null} for a body without a word that is known
	 */
	@Nullable FailureKind kind(ErrorBody body);

	/**
	 * Whether an error is about money or an entitlement, whatever its status.
	 * @param body the error body
	 * @return what has run out, or {@code null} for another kind of error
	 */
	@Nullable Quota quota(ErrorBody body);

	/**
	 * Something that has run out and does not come back by waiting a little.
	 *
	 * @param code the provider's code for it, {@code null} where only its text told
	 * @param latch which calls it shuts off
	 */
	record Quota(@Nullable String code, LatchScope latch) {

		/** Told by text or status alone, which shuts nothing off. */
		static final Quota UNCODED = new Quota(null, LatchScope.NONE);

	}

}
