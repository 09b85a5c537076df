package dev.llmresilience.failure;

import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.web.reactive.function.client.WebClientRequestException;
import org.springframework.web.reactive.function.client.WebClientResponseException;

/**
 * Reads the exceptions of Spring's {@code WebClient} and the HTTP service clients on top
 * of it, over any connector.
 */
final class WebClientReader implements FailureReader {

	@Override
	public @Nullable FailureFacts read(Throwable thrown) {
		if (thrown instanceof WebClientResponseException response) {
			return read(response);
		}
		// What a filter or a body publisher threw is wrapped alike.
		boolean foreign = thrown.getCause() instanceof RuntimeException;
		return (thrown instanceof WebClientRequestException && !foreign) ? FailureFacts.Transport.BROKEN : null;
	}

	private static FailureFacts.@Nullable Response read(WebClientResponseException response) {
		int status = response.getStatusCode().value();
		if (status < 300 && response.getCause() != null) {
			// An answer whose body broke off: its cause tells why.
			return null;
		}
		HttpHeaders headers = response.getHeaders();
		return new FailureFacts.Response(status, headers::getOrEmpty,
				ErrorBody.parse(response.getResponseBodyAsByteArray()));
	}

}
