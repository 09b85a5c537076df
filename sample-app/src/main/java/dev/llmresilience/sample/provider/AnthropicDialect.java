package dev.llmresilience.sample.provider;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.llmresilience.sample.provider.Bucket.Level;
import dev.llmresilience.sample.provider.Buckets.Reading;

/**
 * The Anthropic Messages API.
 */
final class AnthropicDialect implements Dialect {

	@Override
	public String path() {
		return "/v1/messages";
	}

	@Override
	public String requestIdHeader() {
		return "request-id";
	}

	@Override
	public Map<String, String> rateLimitHeaders(Reading reading, Instant now) {
		Map<String, String> headers = new LinkedHashMap<>();
		put(headers, "anthropic-ratelimit-requests-", reading.requests(), now);
		if (reading.tokens() != null) {
			put(headers, "anthropic-ratelimit-tokens-", reading.tokens(), now);
		}
		return headers;
	}

	private static void put(Map<String, String> headers, String prefix, Level level, Instant now) {
		// The real header has whole seconds; rounded up, it never promises too much.
		Instant full = now.plus(level.untilFull()).plusNanos(999_999_999).truncatedTo(ChronoUnit.SECONDS);
		headers.put(prefix + "limit", Integer.toString(level.limit()));
		headers.put(prefix + "remaining", Integer.toString(level.remaining()));
		headers.put(prefix + "reset", full.toString());
	}

	@Override
	public String answer(ChatRequest request, String requestId, Instant now) {
		return """
				{"id":"msg_%s","type":"message","role":"assistant","model":%s,\
				"content":[{"type":"text","text":%s}],"stop_reason":"end_turn","stop_sequence":null,\
				"usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,\
				"output_tokens":%d,"service_tier":"standard"}}""".formatted(requestId,
				ChatRequest.quoted(request.model()), ChatRequest.quoted(request.answer()), request.inputTokens(),
				request.outputTokens());
	}

	@Override
	public List<String> events(ChatRequest request, String requestId, Instant now) {
		List<String> events = new ArrayList<>();
		events.add(event("message_start", """
				{"type":"message_start","message":{"id":"msg_%s","type":"message","role":"assistant","model":%s,\
				"content":[],"stop_reason":null,"stop_sequence":null,\
				"usage":{"input_tokens":%d,"output_tokens":1}}}""".formatted(requestId,
				ChatRequest.quoted(request.model()), request.inputTokens())));
		events.add(event("content_block_start", """
				{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"""));
		events.add(event("ping", """
				{"type":"ping"}"""));
		for (String piece : request.answerInPieces()) {
			events.add(event("content_block_delta", """
					{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}"""
				.formatted(ChatRequest.quoted(piece))));
		}
		events.add(event("content_block_stop", """
				{"type":"content_block_stop","index":0}"""));
		events.add(event("message_delta", """
				{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},\
				"usage":{"output_tokens":%d}}""".formatted(request.outputTokens())));
		events.add(event("message_stop", """
				{"type":"message_stop"}"""));
		return events;
	}

	@Override
	public ApiError rateLimited(Reading reading) {
		Level tokens = reading.scarceTokens();
		String limit = (tokens != null) ? tokens.limit() + " tokens"
				: Math.round(reading.limits().requestsPerSecond() * 60) + " requests";
		return new ApiError(429, "rate_limit_error", "",
				"This request would exceed your organization's rate limit of %s per minute.".formatted(limit));
	}

	@Override
	public ApiError overloaded() {
		return new ApiError(529, "overloaded_error", "", "Overloaded");
	}

	@Override
	public ApiError spendCap() {
		return new ApiError(429, "rate_limit_error", "enforced_spend_limit_reached",
				"Your organization has reached its monthly spend limit.");
	}

	@Override
	public ApiError error(int status, String message) {
		String type = switch (status) {
			case 401 -> "authentication_error";
			case 402 -> "billing_error";
			case 403 -> "permission_error";
			case 404 -> "not_found_error";
			case 409 -> "conflict_error";
			case 413 -> "request_too_large";
			case 429 -> "rate_limit_error";
			case 504 -> "timeout_error";
			case 529 -> "overloaded_error";
			default -> (status < 500) ? "invalid_request_error" : "api_error";
		};
		return new ApiError(status, type, "", message);
	}

	@Override
	public String errorBody(ApiError error, String requestId) {
		String details = error.code().isEmpty() ? "null"
				: "{\"error_code\":%s}".formatted(ChatRequest.quoted(error.code()));
		return """
				{"type":"error","error":{"type":"%s","message":%s,"details":%s},"request_id":"req_%s"}"""
			.formatted(error.type(), ChatRequest.quoted(error.message()), details, requestId);
	}

	private static String event(String name, String data) {
		return "event: " + name + "\ndata: " + data + "\n\n";
	}

}
