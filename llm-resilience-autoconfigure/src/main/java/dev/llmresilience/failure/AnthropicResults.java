package dev.llmresilience.failure;

import com.anthropic.core.JsonField;
import com.anthropic.core.JsonValue;
import com.anthropic.models.messages.Message;
import dev.llmresilience.LlmFailure;
import org.jspecify.annotations.Nullable;

/**
 * Finds failures in the {@code Message} of Anthropic's Java SDK, which takes an error
 * object for a message whose fields are all missing.
 */
final class AnthropicResults implements ResultClassifier {

	@Override
	public boolean knows(Object result) {
		return result instanceof Message;
	}

	@Override
	public @Nullable LlmFailure classify(Object result, FailureContext context) {
		if (!(result instanceof Message message)) {
			return null;
		}
		JsonValue error = message._additionalProperties().get("error");
		LlmFailure failure = (error != null) ? InBandErrors.ofError(error.convert(Object.class), context) : null;
		if (failure != null) {
			return failure;
		}
		return (isAbsent(message._content()) && isAbsent(message._stopReason())) ? InBandErrors.nothing() : null;
	}

	private static boolean isAbsent(JsonField<?> field) {
		return field.isMissing() || field.isNull();
	}

}
