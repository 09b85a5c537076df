package dev.llmresilience.failure;

import java.util.Collection;
import java.util.List;
import java.util.Map;

import com.azure.core.exception.ClientAuthenticationException;
import com.azure.core.exception.HttpRequestException;
import com.azure.core.exception.HttpResponseException;
import com.azure.core.exception.ServiceResponseException;
import com.azure.core.http.HttpHeader;
import com.azure.core.http.HttpHeaderName;
import com.azure.core.http.HttpResponse;
import dev.llmresilience.failure.FailureFacts.Hearsay;
import dev.llmresilience.failure.FailureFacts.Response;
import dev.llmresilience.failure.FailureFacts.Transport;
import org.jspecify.annotations.Nullable;

/**
 * Reads the exceptions of Azure's SDKs, over any of their HTTP clients.
 */
final class AzureReader implements FailureReader {

	@Override
	public @Nullable FailureFacts read(Throwable thrown) {
		if (thrown instanceof HttpResponseException exception && exception.getResponse() != null) {
			return read(exception, exception.getResponse());
		}
		if (thrown instanceof ClientAuthenticationException) {
			// No token to be had, so that nothing was sent to the model.
			return new Hearsay(new Response(401, (name) -> List.of(), ErrorBody.EMPTY));
		}
		boolean broken = thrown instanceof HttpRequestException || thrown instanceof ServiceResponseException;
		return broken ? Transport.BROKEN : null;
	}

	private static @Nullable Response read(HttpResponseException exception, HttpResponse response) {
		int status = response.getStatusCode();
		// An answer that did not parse is thrown as the same type.
		return (status < 300) ? null : new Response(status, (name) -> headers(response, name), body(exception));
	}

	private static List<String> headers(HttpResponse response, String name) {
		HttpHeader header = response.getHeaders().get(HttpHeaderName.fromString(name));
		return (header != null) ? header.getValuesList() : List.of();
	}

	private static ErrorBody body(HttpResponseException exception) {
		Object value = exception.getValue();
		if (value instanceof Map || value instanceof Collection) {
			return ErrorBody.of(value);
		}
		// Reading the response again could block. The message has the body in quotes.
		String message = (exception.getMessage() != null) ? exception.getMessage() : "";
		int start = message.indexOf('"');
		int end = message.lastIndexOf('"');
		return (start < end) ? ErrorBody.parse(message.substring(start + 1, end)) : ErrorBody.EMPTY;
	}

}
