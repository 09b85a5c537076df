package dev.llmresilience.failure;

import java.util.List;

import dev.langchain4j.exception.AuthenticationException;
import dev.langchain4j.exception.HttpException;
import dev.langchain4j.exception.InternalServerException;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.ModelNotFoundException;
import dev.langchain4j.exception.RateLimitException;
import dev.langchain4j.exception.TimeoutException;
import dev.langchain4j.exception.UnresolvedModelServerException;
import dev.llmresilience.failure.FailureFacts.Hearsay;
import dev.llmresilience.failure.FailureFacts.Response;
import dev.llmresilience.failure.FailureFacts.Transport;
import org.jspecify.annotations.Nullable;

/**
 * Reads LangChain4j's exceptions. Most have an {@link HttpException} as their cause, with
 * the status and, as its message, the body; headers are lost. The others' types tell what
 * the status was, unless their cause knows better; whether LangChain4j calls them
 * retriable is not believed.
 */
final class LangChain4jReader implements FailureReader {

	@Override
	public @Nullable FailureFacts read(Throwable thrown) {
		if (thrown instanceof HttpException http) {
			return response(http.statusCode(), http);
		}
		if (thrown instanceof UnresolvedModelServerException) {
			return Transport.UNKNOWN_HOST;
		}
		if (thrown instanceof TimeoutException) {
			return Transport.TIMED_OUT;
		}
		int status = status(thrown);
		return (status != 0) ? new Hearsay(response(status, thrown)) : null;
	}

	private static int status(Throwable thrown) {
		if (thrown instanceof RateLimitException) {
			return 429;
		}
		if (thrown instanceof InternalServerException) {
			return 500;
		}
		if (thrown instanceof AuthenticationException) {
			return 401;
		}
		if (thrown instanceof ModelNotFoundException) {
			return 404;
		}
		return (thrown instanceof InvalidRequestException) ? 400 : 0;
	}

	private static Response response(int status, Throwable thrown) {
		return new Response(status, (name) -> List.of(), ErrorBody.parse(thrown.getMessage()));
	}

}
