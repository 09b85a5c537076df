package dev.llmresilience.actuate;

import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * Gives the answers of the endpoints their HTTP status.
 */
final class WebAnswers {

	private WebAnswers() {
	}

	/**
	 * Answers with what was asked for.
	 * @param <T> its type
	 * @param found what was found, or {@code null}
	 * @return it, or 404
	 */
	static <T> WebEndpointResponse<T> found(@Nullable T found) {
		return (found != null) ? new WebEndpointResponse<>(found)
				: new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
	}

	/**
	 * Answers with what something has become.
	 * @param change changes it; throws an {@link IllegalArgumentException} that says what
	 * is allowed
	 * @return what it gives, 404 if that is nothing, or 400 with the message
	 */
	static WebEndpointResponse<?> changed(Supplier<? extends @Nullable Object> change) {
		try {
			return found(change.get());
		}
		catch (IllegalArgumentException ex) {
			return new WebEndpointResponse<>(Map.of("error", String.valueOf(ex.getMessage())),
					WebEndpointResponse.STATUS_BAD_REQUEST);
		}
	}

}
