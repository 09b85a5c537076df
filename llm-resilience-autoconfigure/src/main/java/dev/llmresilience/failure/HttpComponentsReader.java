package dev.llmresilience.failure;

import java.util.List;

import dev.llmresilience.failure.FailureFacts.Response;
import dev.llmresilience.failure.FailureFacts.Transport;
import org.apache.hc.client5.http.ConnectTimeoutException;
import org.apache.hc.client5.http.HttpResponseException;
import org.apache.hc.client5.http.impl.classic.RequestAbortedException;
import org.apache.hc.client5.http.impl.classic.RequestFailedException;
import org.apache.hc.core5.http.ConnectionRequestTimeoutException;
import org.apache.hc.core5.http.RequestNotExecutedException;
import org.jspecify.annotations.Nullable;

/**
 * Reads those exceptions of Apache HttpClient 5 that do not mean what their JDK
 * supertypes say.
 */
final class HttpComponentsReader implements FailureReader {

	@Override
	public @Nullable FailureFacts read(Throwable thrown) {
		if (thrown instanceof HttpResponseException response) {
			return new Response(response.getStatusCode(), (name) -> List.of(),
					ErrorBody.parse(response.getContentBytes()));
		}
		if (thrown instanceof ConnectionRequestTimeoutException) {
			return Transport.NOT_STARTED;
		}
		if (thrown instanceof ConnectTimeoutException || thrown instanceof RequestNotExecutedException) {
			return Transport.NOT_CONNECTED;
		}
		if (thrown instanceof RequestAbortedException) {
			return Transport.CANCELLED;
		}
		if (thrown instanceof RequestFailedException) {
			return "Request aborted".equals(thrown.getMessage()) ? Transport.CANCELLED : Transport.BROKEN;
		}
		return null;
	}

}
