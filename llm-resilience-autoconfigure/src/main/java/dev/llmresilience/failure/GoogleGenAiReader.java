package dev.llmresilience.failure;

import java.util.List;
import java.util.Map;
import java.util.Objects;

import com.google.genai.errors.ApiException;
import com.google.genai.errors.GenAiIOException;
import dev.llmresilience.failure.FailureFacts.Response;
import dev.llmresilience.failure.FailureFacts.Transport;
import org.jspecify.annotations.Nullable;

/**
 * Reads the exceptions of Google's Gen AI SDK (1.65, which Spring AI 2.0 brings, and
 * 2.0). They keep the status and the message of the error, but neither headers nor
 * details: how long to wait is left in the message only.
 */
final class GoogleGenAiReader implements FailureReader {

	@Override
	public @Nullable FailureFacts read(Throwable thrown) {
		if (thrown instanceof ApiException api) {
			return new Response(api.code(), (name) -> List.of(), body(api));
		}
		// Its cause tells more: not only the connection fails with this type, but also
		// the parsing of an answer.
		return (thrown instanceof GenAiIOException && thrown.getCause() == null) ? Transport.BROKEN : null;
	}

	private static ErrorBody body(ApiException api) {
		String status = Objects.requireNonNullElse(api.status(), "");
		String message = Objects.requireNonNullElse(api.message(), "");
		return ErrorBody.of(Map.of("error", Map.of("status", isCode(status) ? status : "", "message", message)));
	}

	// Without a JSON body it is the reason phrase of the HTTP status, such as
	// "Forbidden".
	private static boolean isCode(String status) {
		return status.chars().allMatch((c) -> (c >= 'A' && c <= 'Z') || c == '_');
	}

}
