package dev.llmresilience.failure;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClientResponseException;

/**
 * Reads the exceptions of Spring's {@code RestClient}, {@code RestTemplate} and the HTTP
 * service clients on top of them.
 */
final class SpringWebReader implements FailureReader {

	@Override
	public @Nullable FailureFacts read(Throwable thrown) {
		if (thrown instanceof RestClientResponseException response) {
			HttpHeaders headers = response.getResponseHeaders();
			return new FailureFacts.Response(response.getStatusCode().value(),
					(name) -> (headers != null) ? headers.getOrEmpty(name) : List.of(),
					ErrorBody.parse(response.getResponseBodyAsByteArray()));
		}
		return (thrown instanceof ResourceAccessException) ? FailureFacts.Transport.BROKEN : null;
	}

}
