package dev.llmresilience.failure;

import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

import dev.llmresilience.failure.FailureFacts.Response;
import dev.llmresilience.failure.FailureFacts.Transport;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.RetryableException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.http.SdkHttpResponse;

/**
 * Reads the exceptions of the AWS SDK for Java 2, of which those of Bedrock's runtime are
 * a kind. The exception's name, such as {@code ThrottlingException}, is the provider's
 * code.
 */
final class AwsReader implements FailureReader {

	@Override
	public @Nullable FailureFacts read(Throwable thrown) {
		if (thrown instanceof AwsServiceException service) {
			AwsErrorDetails details = service.awsErrorDetails();
			// An error event within a stream has no status.
			int status = Math.max(service.statusCode(), 0);
			return (details != null) ? new Response(status, headers(details.sdkHttpResponse()), body(details))
					: new Response(status, (name) -> List.of(), ErrorBody.EMPTY);
		}
		return (thrown instanceof SdkClientException client) ? read(client) : null;
	}

	private static Function<String, List<String>> headers(@Nullable SdkHttpResponse response) {
		return (response != null) ? response::matchingHeaders : (name) -> List.of();
	}

	private static ErrorBody body(AwsErrorDetails details) {
		String code = details.errorCode();
		if (code == null) {
			SdkBytes raw = details.rawResponse();
			return (raw != null) ? ErrorBody.parse(raw.asByteArrayUnsafe()) : ErrorBody.EMPTY;
		}
		String message = Objects.requireNonNullElse(details.errorMessage(), "");
		return ErrorBody.of(Map.of("error", Map.of("code", code, "message", message)));
	}

	// The type is used for everything that goes wrong on this side, missing credentials
	// included; only the text tells what was about the connection.
	private static @Nullable Transport read(SdkClientException client) {
		if (client instanceof AbortedException) {
			return Transport.CANCELLED;
		}
		if (client instanceof ApiCallTimeoutException || client instanceof ApiCallAttemptTimeoutException) {
			return Transport.TIMED_OUT;
		}
		String message = (client.getMessage() != null) ? client.getMessage() : "";
		if (message.contains("Acquire operation took longer")) {
			// The pool of the asynchronous client is full, or it could not fill itself:
			// its connections to a silent server come to this, too.
			return Transport.NOT_CONNECTED;
		}
		// An answer that did not parse is reported in the same words.
		boolean parsing = client.getCause() instanceof UncheckedIOException;
		boolean broken = message.startsWith("Unable to execute HTTP request") && !parsing;
		return (broken || client instanceof RetryableException) ? Transport.BROKEN : null;
	}

}
