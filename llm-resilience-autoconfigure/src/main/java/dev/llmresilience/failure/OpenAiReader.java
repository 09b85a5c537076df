package dev.llmresilience.failure;

import com.openai.core.JsonValue;
import com.openai.errors.OpenAIIoException;
import com.openai.errors.OpenAIRetryableException;
import com.openai.errors.OpenAIServiceException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the exceptions of OpenAI's Java SDK (4.49), whichever back end it talks to. Its
 * {@code body()} is the inner {@code error} object already.
 */
final class OpenAiReader implements FailureReader {

	@Override
	public @Nullable FailureFacts read(Throwable thrown) {
		if (thrown instanceof OpenAIServiceException service) {
			return new FailureFacts.Response(service.statusCode(), service.headers()::values, body(service.body()));
		}
		if (thrown instanceof OpenAIIoException || thrown instanceof OpenAIRetryableException) {
			return FailureFacts.Transport.BROKEN;
		}
		return null;
	}

	private static ErrorBody body(JsonValue body) {
		return (body.isMissing() || body.isNull()) ? ErrorBody.EMPTY : ErrorBody.of(body.convert(Object.class));
	}

}
