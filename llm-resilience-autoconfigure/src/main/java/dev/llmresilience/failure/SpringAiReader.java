package dev.llmresilience.failure;

import java.util.List;

import dev.llmresilience.failure.FailureFacts.Hearsay;
import dev.llmresilience.failure.FailureFacts.Response;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.retry.NonTransientAiException;
import org.springframework.ai.retry.TransientAiException;

/**
 * Reads the exceptions of Spring AI's own HTTP modules (Ollama, Mistral, DeepSeek), whose
 * message is all that is left of the response: {@code 429 - body} or
 * {@code HTTP 429 - body}. The names of the types are not believed: with the defaults
 * even a 429 is non-transient.
 * <p>
 * The OpenAI, Anthropic and Google modules let their SDKs' exceptions through.
 */
final class SpringAiReader implements FailureReader {

	private static final String PREFIX = "HTTP ";

	private static final String SEPARATOR = " - ";

	private static final int DIGITS = 3;

	@Override
	public @Nullable FailureFacts read(Throwable thrown) {
		boolean passes = thrown instanceof TransientAiException;
		if (!passes && !(thrown instanceof NonTransientAiException)) {
			return null;
		}
		String message = (thrown.getMessage() != null) ? thrown.getMessage() : "";
		int start = message.startsWith(PREFIX) ? PREFIX.length() : 0;
		int status = status(message, start);
		if (status != 0) {
			return response(status, message.substring(start + DIGITS + SEPARATOR.length()));
		}
		// Thrown by a module, or by the user, for a reason of its own.
		return passes ? new Hearsay(response(0, message)) : null;
	}

	private static int status(String message, int start) {
		if (!message.startsWith(SEPARATOR, start + DIGITS)) {
			return 0;
		}
		int status = 0;
		for (int i = start; i < start + DIGITS; i++) {
			int digit = message.charAt(i) - '0';
			if (digit < 0 || digit > 9) {
				return 0;
			}
			status = 10 * status + digit;
		}
		return status;
	}

	private static Response response(int status, String body) {
		return new Response(status, (name) -> List.of(), ErrorBody.parse(body));
	}

}
