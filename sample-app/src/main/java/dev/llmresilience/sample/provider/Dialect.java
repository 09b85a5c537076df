package dev.llmresilience.sample.provider;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import dev.llmresilience.sample.provider.Buckets.Reading;

/**
 * How one provider's API writes answers, errors and headers.
 */
interface Dialect {

	/**
	 * The path that chat requests go to.
	 * @return the path
	 */
	String path();

	/**
	 * The header that carries the request id.
	 * @return the header's name
	 */
	String requestIdHeader();

	/**
	 * The headers that tell the state of the limits, on success and failure alike.
	 * @param reading the state
	 * @param now the wall clock
	 * @return name and value
	 */
	Map<String, String> rateLimitHeaders(Reading reading, Instant now);

	/**
	 * The body of an answer.
	 * @param request the request
	 * @param requestId the request id
	 * @param now the wall clock
	 * @return JSON
	 */
	String answer(ChatRequest request, String requestId, Instant now);

	/**
	 * An answer as server-sent events.
	 * @param request the request
	 * @param requestId the request id
	 * @param now the wall clock
	 * @return the events, each with its closing blank line
	 */
	List<String> events(ChatRequest request, String requestId, Instant now);

	/**
	 * A request that is rejected because a bucket does not hold what it takes.
	 * @param reading the state of the buckets
	 * @return the error
	 */
	ApiError rateLimited(Reading reading);

	/**
	 * The provider as a whole is too busy.
	 * @return the error
	 */
	ApiError overloaded();

	/**
	 * A spend limit is reached.
	 * @return the error
	 */
	ApiError spendCap();

	/**
	 * Any other error.
	 * @param status the HTTP status
	 * @param message the message
	 * @return the error
	 */
	ApiError error(int status, String message);

	/**
	 * The body of an error.
	 * @param error the error
	 * @param requestId the request id
	 * @return JSON
	 */
	String errorBody(ApiError error, String requestId);

	/**
	 * An error before it is written.
	 *
	 * @param status the HTTP status
	 * @param type the provider's type of error
	 * @param code the provider's code, empty for none
	 * @param message the message
	 */
	record ApiError(int status, String type, String code, String message) {
	}

}
