package dev.llmresilience.failure;

import com.anthropic.core.JsonValue;
import com.anthropic.errors.AnthropicIoException;
import com.anthropic.errors.AnthropicRetryableException;
import com.anthropic.errors.AnthropicServiceException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the exceptions of Anthropic's Java SDK. Uses only what versions 2.52 (which
 * Spring AI 2.0 brings) and 3.14 have in common: the later one's {@code errorCode()} is
 * dug out of the body instead.
 */
final class AnthropicReader implements FailureReader {

	@Override
	public @Nullable FailureFacts read(Throwable thrown) {
		if (thrown instanceof AnthropicServiceException service) {
			return new FailureFacts.Response(service.statusCode(), service.headers()::values, body(service.body()));
		}
		if (thrown instanceof AnthropicIoException || thrown instanceof AnthropicRetryableException) {
			return FailureFacts.Transport.BROKEN;
		}
		return null;
	}

	private static ErrorBody body(JsonValue body) {
		return (body.isMissing() || body.isNull()) ? ErrorBody.EMPTY : ErrorBody.of(body.convert(Object.class));
	}

}
