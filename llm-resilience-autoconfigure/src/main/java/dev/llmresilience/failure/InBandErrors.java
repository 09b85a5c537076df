package dev.llmresilience.failure;

import java.util.List;
import java.util.Map;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure;
import org.jspecify.annotations.Nullable;

/**
 * What the classifiers of results share: how errors inside a successful response are
 * judged. Stateless.
 */
final class InBandErrors {

	private static final int OK = 200;

	// A client library may see an error body as an answer of which nothing is left.
	private static final LlmFailure NOTHING = LlmFailure.of(FailureKind.SERVER_ERROR).withStatus(OK);

	private InBandErrors() {
	}

	/**
	 * Judges the value of an {@code error} field.
	 * @param error maps, collections and scalars, or {@code null}
	 * @param context what is known around it
	 * @return the failure, or {@code null} for no error
	 */
	static @Nullable LlmFailure ofError(@Nullable Object error, FailureContext context) {
		if (error == null || Boolean.FALSE.equals(error) || "".equals(error)) {
			return null;
		}
		ErrorBody body = ErrorBody.of(Map.of("error", error));
		return ResponseJudge.judge(new FailureFacts.Response(OK, (name) -> List.of(), body), context.type().rules(),
				context.now());
	}

	/**
	 * Judges an answer that lacks what every answer has.
	 * @return the failure
	 */
	static LlmFailure nothing() {
		return NOTHING;
	}

	/**
	 * Judges why a generation ended. A filter, a refusal or the length is an answer.
	 * @param reason the provider's word, in any case, or {@code null}
	 * @return the failure, or {@code null} for a reason that is none
	 */
	static @Nullable LlmFailure ofFinishReason(@Nullable String reason) {
		if (reason == null) {
			return null;
		}
		if (reason.equalsIgnoreCase("error")) {
			return NOTHING.withCode("error");
		}
		// DeepSeek: the system ran out of resources within the answer.
		return reason.equalsIgnoreCase("insufficient_system_resource")
				? NOTHING.withKind(FailureKind.OVERLOADED).withCode("insufficient_system_resource") : null;
	}

}
