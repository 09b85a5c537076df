package dev.llmresilience.sample.provider;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.llmresilience.sample.provider.Bucket.Level;
import dev.llmresilience.sample.provider.Buckets.Reading;

/**
 * The OpenAI chat completions API.
 */
final class OpenAiDialect implements Dialect {

	@Override
	public String path() {
		return "/v1/chat/completions";
	}

	@Override
	public String requestIdHeader() {
		return "x-request-id";
	}

	@Override
	public Map<String, String> rateLimitHeaders(Reading reading, Instant now) {
		Map<String, String> headers = new LinkedHashMap<>();
		put(headers, "requests", reading.requests());
		if (reading.tokens() != null) {
			put(headers, "tokens", reading.tokens());
		}
		return headers;
	}

	private static void put(Map<String, String> headers, String unit, Level level) {
		headers.put("x-ratelimit-limit-" + unit, Integer.toString(level.limit()));
		headers.put("x-ratelimit-remaining-" + unit, Integer.toString(level.remaining()));
		headers.put("x-ratelimit-reset-" + unit, goDuration(level.untilFull()));
	}

	@Override
	public String answer(ChatRequest request, String requestId, Instant now) {
		return """
				{"id":"chatcmpl-%s","object":"chat.completion","created":%d,"model":%s,\
				"choices":[{"index":0,"message":{"role":"assistant","content":%s,"refusal":null,"annotations":[]},\
				"logprobs":null,"finish_reason":"stop"}],"usage":%s,"service_tier":"default"}""".formatted(requestId,
				now.getEpochSecond(), ChatRequest.quoted(request.model()), ChatRequest.quoted(request.answer()),
				usage(request));
	}

	@Override
	public List<String> events(ChatRequest request, String requestId, Instant now) {
		List<String> events = new ArrayList<>();
		events.add(chunk(request, requestId, now, choice("{\"role\":\"assistant\",\"content\":\"\"}", "null"), "null"));
		for (String piece : request.answerInPieces()) {
			String delta = "{\"content\":%s}".formatted(ChatRequest.quoted(piece));
			events.add(chunk(request, requestId, now, choice(delta, "null"), "null"));
		}
		events.add(chunk(request, requestId, now, choice("{}", "\"stop\""), "null"));
		if (request.includeUsage()) {
			events.add(chunk(request, requestId, now, "", usage(request)));
		}
		events.add("data: [DONE]\n\n");
		return events;
	}

	@Override
	public ApiError rateLimited(Reading reading) {
		if (reading.tokens() != null && reading.isTooLarge()) {
			return new ApiError(429, "tokens", "rate_limit_exceeded", """
					Request too large on tokens per min (TPM): Limit %d, Requested %d. \
					The input or output tokens must be reduced in order to run successfully."""
				.formatted(reading.tokens().limit(), reading.tokens().wanted()));
		}
		Level tokens = reading.scarceTokens();
		if (tokens != null) {
			return new ApiError(429, "tokens", "rate_limit_exceeded", """
					Rate limit reached on tokens per min (TPM): Limit %d, Used %d, Requested %d. \
					Please try again in %s.""".formatted(tokens.limit(), tokens.limit() - tokens.remaining(),
					tokens.wanted(), goDuration(tokens.untilEnough())));
		}
		long perMinute = Math.round(reading.limits().requestsPerSecond() * 60);
		return new ApiError(429, "requests", "rate_limit_exceeded", """
				Rate limit reached on requests per min (RPM): Limit %d, Used %d, Requested 1. \
				Please try again in %s.""".formatted(perMinute, perMinute,
				goDuration(reading.requests().untilEnough())));
	}

	@Override
	public ApiError overloaded() {
		return new ApiError(503, "service_unavailable_error", "server_is_overloaded",
				"The engine is currently overloaded, please try again later.");
	}

	@Override
	public ApiError spendCap() {
		return new ApiError(429, "insufficient_quota", "credit_balance_exhausted",
				"You exceeded your current quota, please check your plan and billing details.");
	}

	@Override
	public ApiError error(int status, String message) {
		return switch (status) {
			case 401 -> new ApiError(status, "invalid_request_error", "invalid_api_key", message);
			case 404 -> new ApiError(status, "invalid_request_error", "model_not_found", message);
			case 429 -> new ApiError(status, "requests", "rate_limit_exceeded", message);
			default -> new ApiError(status, (status < 500) ? "invalid_request_error" : "server_error", "", message);
		};
	}

	@Override
	public String errorBody(ApiError error, String requestId) {
		String code = error.code().isEmpty() ? "null" : ChatRequest.quoted(error.code());
		return """
				{"error":{"message":%s,"type":"%s","param":null,"code":%s}}"""
			.formatted(ChatRequest.quoted(error.message()), error.type(), code);
	}

	/**
	 * Writes a duration as Go does, which is what OpenAI sends: {@code 120ms},
	 * {@code 1.5s}, {@code 6m0s}, {@code 1h2m3s}.
	 * @param duration the duration
	 * @return text
	 */
	static String goDuration(Duration duration) {
		long millis = duration.plusNanos(999_999).toMillis();
		if (millis == 0) {
			return "0s";
		}
		if (millis < 1000) {
			return millis + "ms";
		}
		long minutes = millis / 60_000;
		String seconds = BigDecimal.valueOf(millis % 60_000, 3).stripTrailingZeros().toPlainString() + "s";
		if (minutes == 0) {
			return seconds;
		}
		return (minutes < 60) ? minutes + "m" + seconds : (minutes / 60) + "h" + (minutes % 60) + "m" + seconds;
	}

	private static String choice(String delta, String finishReason) {
		return "{\"index\":0,\"delta\":%s,\"logprobs\":null,\"finish_reason\":%s}".formatted(delta, finishReason);
	}

	private static String chunk(ChatRequest request, String requestId, Instant now, String choice, String usage) {
		return """
				data: {"id":"chatcmpl-%s","object":"chat.completion.chunk","created":%d,"model":%s,\
				"service_tier":"default","choices":[%s],"usage":%s}

				""".formatted(requestId, now.getEpochSecond(), ChatRequest.quoted(request.model()), choice, usage);
	}

	private static String usage(ChatRequest request) {
		return "{\"prompt_tokens\":%d,\"completion_tokens\":%d,\"total_tokens\":%d}".formatted(request.inputTokens(),
				request.outputTokens(), request.allTokens());
	}

}
