package dev.llmresilience.failure;

import java.io.IOException;
import java.util.List;

import dev.llmresilience.failure.FailureFacts.Response;
import okhttp3.ResponseBody;
import okio.BufferedSource;
import org.jspecify.annotations.Nullable;
import retrofit2.HttpException;

/**
 * Reads Retrofit's exception for an error response. A broken connection is reported by
 * the {@code IOException}s of OkHttp below it.
 */
final class RetrofitReader implements FailureReader {

	private static final int MAX_LENGTH = 64 * 1024;

	@Override
	public @Nullable Response read(Throwable thrown) {
		if (!(thrown instanceof HttpException http)) {
			return null;
		}
		retrofit2.Response<?> response = http.response();
		if (response == null) {
			// It is lost when the exception is serialized.
			return new Response(http.code(), (name) -> List.of(), ErrorBody.EMPTY);
		}
		return new Response(http.code(), response.headers()::values, body(response.errorBody()));
	}

	// Can be read only once, and the caller may want to do so: a copy is read instead.
	private static ErrorBody body(@Nullable ResponseBody body) {
		if (body == null) {
			return ErrorBody.EMPTY;
		}
		try (BufferedSource copy = body.source().peek()) {
			copy.request(MAX_LENGTH);
			return ErrorBody.parse(copy.readByteArray(Math.min(copy.getBuffer().size(), MAX_LENGTH)));
		}
		catch (IOException ex) {
			return ErrorBody.EMPTY;
		}
	}

}
