package dev.llmresilience.failure;

import java.util.List;
import java.util.Optional;

import com.google.genai.errors.ApiException;
import com.google.genai.gaos.models.errors.GaosBaseException;
import com.google.genai.gaos.models.errors.GaosClientException;
import com.google.genai.gaos.models.errors.GaosServerException;
import com.google.genai.gaos.utils.Headers;
import dev.llmresilience.failure.FailureFacts.Response;
import org.jspecify.annotations.Nullable;

/**
 * Reads the exceptions of the Interactions API in Google's Gen AI SDK 2.0. Unlike those
 * that {@link GoogleGenAiReader} reads, whose subtypes they are, they keep headers and
 * body, and their message says nothing.
 */
final class GoogleInteractionsReader implements FailureReader {

	@Override
	public @Nullable Response read(Throwable thrown) {
		if (thrown instanceof GaosClientException client) {
			return response(client, client.headers(), client.body());
		}
		if (thrown instanceof GaosServerException server) {
			return response(server, server.headers(), server.body());
		}
		return (thrown instanceof GaosBaseException other) ? response(other, other.headers(), other.body()) : null;
	}

	private static Response response(ApiException api, Headers headers, Optional<byte[]> body) {
		return new Response(api.code(), (name) -> values(headers, name), ErrorBody.parse(body.orElse(null)));
	}

	private static List<String> values(Headers headers, String name) {
		List<String> values = headers.get(name);
		return (values != null) ? values : List.of();
	}

}
