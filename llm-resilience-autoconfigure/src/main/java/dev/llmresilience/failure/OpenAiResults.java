package dev.llmresilience.failure;

import java.util.List;
import java.util.Map;

import com.openai.core.JsonValue;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseError;
import dev.llmresilience.LlmFailure;
import org.jspecify.annotations.Nullable;

/**
 * Finds failures in the {@code ChatCompletion} and the {@code Response} of OpenAI's Java
 * SDK, whichever back end it talks to: an error object, no choices, an error in a choice
 * (OpenRouter), a background response that failed.
 */
final class OpenAiResults implements ResultClassifier {

	@Override
	public boolean knows(Object result) {
		return result instanceof ChatCompletion || result instanceof Response;
	}

	@Override
	public @Nullable LlmFailure classify(Object result, FailureContext context) {
		if (result instanceof ChatCompletion completion) {
			return ofCompletion(completion, context);
		}
		return (result instanceof Response response) ? ofResponse(response, context) : null;
	}

	private static @Nullable LlmFailure ofCompletion(ChatCompletion completion, FailureContext context) {
		LlmFailure failure = ofProperties(completion._additionalProperties(), context);
		if (failure != null) {
			return failure;
		}
		List<ChatCompletion.Choice> choices = completion._choices().asKnown().orElse(null);
		if (choices == null) {
			return InBandErrors.nothing();
		}
		for (ChatCompletion.Choice choice : choices) {
			failure = ofProperties(choice._additionalProperties(), context);
			if (failure == null) {
				failure = InBandErrors.ofFinishReason(
						choice._finishReason().asKnown().flatMap((reason) -> reason._value().asString()).orElse(null));
			}
			if (failure != null) {
				return failure;
			}
		}
		return null;
	}

	private static @Nullable LlmFailure ofProperties(Map<String, JsonValue> properties, FailureContext context) {
		JsonValue error = properties.get("error");
		return (error != null) ? InBandErrors.ofError(error.convert(Object.class), context) : null;
	}

	private static @Nullable LlmFailure ofResponse(Response response, FailureContext context) {
		ResponseError error = response._error().asKnown().orElse(null);
		if (error == null) {
			return null;
		}
		return InBandErrors.ofError(Map.of("code", error._code().asKnown().map((code) -> code.asString()).orElse(""),
				"message", error._message().asString().orElse("")), context);
	}

}
