package dev.llmresilience.failure;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.List;

import dev.llmresilience.failure.FailureFacts.Response;
import dev.llmresilience.failure.FailureFacts.Transport;
import feign.FeignException;
import feign.RetryableException;
import org.jspecify.annotations.Nullable;

/**
 * Reads Feign's exceptions. Whether Feign calls one retryable is not believed: any status
 * with a {@code Retry-After} is, a 400, too.
 */
final class FeignReader implements FailureReader {

	private static final int MAX_LENGTH = 64 * 1024;

	@Override
	public @Nullable FailureFacts read(Throwable thrown) {
		// A retryable exception around another one has lost its headers and its body.
		if (!(thrown instanceof FeignException feign) || thrown.getCause() instanceof FeignException) {
			return null;
		}
		if (feign.status() < 300) {
			return (thrown instanceof RetryableException) ? Transport.BROKEN : null;
		}
		return new Response(feign.status(), (name) -> headers(feign, name), body(feign));
	}

	private static ErrorBody body(FeignException feign) {
		ByteBuffer body = feign.responseBody().orElse(null);
		if (body == null) {
			return ErrorBody.EMPTY;
		}
		byte[] bytes = new byte[Math.min(body.remaining(), MAX_LENGTH)];
		body.duplicate().get(bytes);
		return ErrorBody.parse(bytes);
	}

	private static List<String> headers(FeignException feign, String name) {
		Collection<String> values = feign.responseHeaders().get(name);
		if (values != null) {
			return List.copyOf(values);
		}
		if (name.equals("retry-after") && feign instanceof RetryableException retryable
				&& retryable.retryAfter() != null) {
			return List.of(date(retryable.retryAfter()));
		}
		return List.of();
	}

	// It is an instant in milliseconds, whatever its documentation says; a date has whole
	// seconds, so the next one is taken.
	private static String date(long retryAfter) {
		Instant instant = Instant.ofEpochMilli(retryAfter).plusMillis(999);
		return DateTimeFormatter.RFC_1123_DATE_TIME.format(instant.atOffset(ZoneOffset.UTC));
	}

}
