package dev.llmresilience.sample.provider;

import java.time.Duration;
import java.time.Instant;

import dev.llmresilience.sample.provider.Bucket.Level;
import dev.llmresilience.sample.provider.Buckets.Reading;
import dev.llmresilience.sample.provider.Dialect.ApiError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what {@link AnthropicDialect} and {@link OpenAiDialect} write.
 */
class DialectTests {

	private static final Instant NOW = Instant.parse("2026-10-01T00:00:00.250Z");

	private final Dialect anthropic = new AnthropicDialect();

	private final Dialect openai = new OpenAiDialect();

	private final Level requests = new Level(20, 0, 1, Duration.ofMillis(70), Duration.ofMillis(1970));

	private final Reading reading = new Reading(false, new Limits(10, 20), this.requests, null);

	private final Reading outOfTokens = outOfTokens(
			new Level(10_000, 4225, 4301, Duration.ofMillis(456), Duration.ofMillis(34_650)));

	private final ChatRequest request = new ChatRequest("a-model", "say \"hello\" twice", true, true);

	@Test
	void anthropic_names_the_instant_when_the_bucket_is_full_in_whole_seconds_rounded_up() {
		assertThat(this.anthropic.rateLimitHeaders(this.reading, NOW))
			.containsEntry("anthropic-ratelimit-requests-limit", "20")
			.containsEntry("anthropic-ratelimit-requests-remaining", "0")
			.containsEntry("anthropic-ratelimit-requests-reset", "2026-10-01T00:00:03Z");
	}

	@Test
	void openai_names_the_duration_until_the_bucket_is_full() {
		assertThat(this.openai.rateLimitHeaders(this.reading, NOW)).containsEntry("x-ratelimit-limit-requests", "20")
			.containsEntry("x-ratelimit-remaining-requests", "0")
			.containsEntry("x-ratelimit-reset-requests", "1.97s");
	}

	@Test
	void the_tokens_are_told_like_the_requests_where_they_are_limited() {
		assertThat(this.anthropic.rateLimitHeaders(this.outOfTokens, NOW)).hasSize(6)
			.containsEntry("anthropic-ratelimit-requests-remaining", "0")
			.containsEntry("anthropic-ratelimit-tokens-limit", "10000")
			.containsEntry("anthropic-ratelimit-tokens-remaining", "4225")
			.containsEntry("anthropic-ratelimit-tokens-reset", "2026-10-01T00:00:35Z");
		assertThat(this.openai.rateLimitHeaders(this.outOfTokens, NOW)).hasSize(6)
			.containsEntry("x-ratelimit-remaining-requests", "0")
			.containsEntry("x-ratelimit-limit-tokens", "10000")
			.containsEntry("x-ratelimit-remaining-tokens", "4225")
			.containsEntry("x-ratelimit-reset-tokens", "34.65s");
	}

	@Test
	void tokens_that_are_not_limited_are_not_told() {
		assertThat(this.anthropic.rateLimitHeaders(this.reading, NOW)).hasSize(3);
		assertThat(this.openai.rateLimitHeaders(this.reading, NOW)).hasSize(3);
	}

	@Test
	void a_rejection_for_want_of_tokens_says_so() {
		assertThat(this.anthropic.rateLimited(this.outOfTokens)).isEqualTo(new ApiError(429, "rate_limit_error", "",
				"This request would exceed your organization's rate limit of 10000 tokens per minute."));
		assertThat(this.openai.rateLimited(this.outOfTokens)).isEqualTo(new ApiError(429, "tokens",
				"rate_limit_exceeded", "Rate limit reached on tokens per min (TPM): Limit 10000, Used 5775, "
						+ "Requested 4301. Please try again in 456ms."));
	}

	@Test
	void a_rejection_for_want_of_requests_says_so_where_tokens_are_limited_too() {
		Reading outOfRequests = outOfTokens(new Level(10_000, 9000, 10, Duration.ZERO, Duration.ofSeconds(6)));
		assertThat(this.anthropic.rateLimited(outOfRequests).message()).contains("600 requests per minute");
		assertThat(this.openai.rateLimited(outOfRequests).type()).isEqualTo("requests");
	}

	@Test
	void a_request_larger_than_a_minute_is_told_never_to_come_back_by_openai() {
		Reading tooLarge = outOfTokens(new Level(10_000, 10_000, 14_368, Duration.ofSeconds(27), Duration.ZERO));
		assertThat(this.openai.rateLimited(tooLarge).type()).isEqualTo("tokens");
		assertThat(this.openai.rateLimited(tooLarge).message())
			.startsWith("Request too large on tokens per min (TPM): Limit 10000, Requested 14368.");
	}

	private Reading outOfTokens(Level tokens) {
		return new Reading(false, new Limits(10, 20, null, 10_000), this.requests, tokens);
	}

	@ParameterizedTest
	@CsvSource({ "0, 0s", "9, 9ms", "1000, 1s", "7660, 7.66s", "60000, 1m0s", "83000, 1m23s", "179560, 2m59.56s",
			"3723000, 1h2m3s" })
	void openai_writes_durations_as_go_does(long millis, String text) {
		assertThat(OpenAiDialect.goDuration(Duration.ofMillis(millis))).isEqualTo(text);
	}

	@Test
	void openai_rounds_a_duration_up_to_milliseconds() {
		assertThat(OpenAiDialect.goDuration(Duration.ofNanos(1))).isEqualTo("1ms");
	}

	@Test
	void a_spend_cap_of_anthropic_is_told_by_its_code_in_the_details() {
		assertThat(this.anthropic.errorBody(this.anthropic.spendCap(), "1")).isEqualTo("""
				{"type":"error","error":{"type":"rate_limit_error",\
				"message":"Your organization has reached its monthly spend limit.",\
				"details":{"error_code":"enforced_spend_limit_reached"}},"request_id":"req_1"}""");
	}

	@Test
	void an_empty_balance_of_openai_is_told_by_type_and_code() {
		assertThat(this.openai.errorBody(this.openai.spendCap(), "1")).contains("\"type\":\"insufficient_quota\"",
				"\"code\":\"credit_balance_exhausted\"");
	}

	@Test
	void being_overloaded_is_a_529_for_anthropic_and_a_503_for_openai() {
		assertThat(this.anthropic.overloaded().status()).isEqualTo(529);
		assertThat(this.anthropic.overloaded().type()).isEqualTo("overloaded_error");
		assertThat(this.openai.overloaded().status()).isEqualTo(503);
		assertThat(this.openai.overloaded().code()).isEqualTo("server_is_overloaded");
	}

	@Test
	void a_rejection_of_openai_says_when_to_try_again() {
		assertThat(this.openai.rateLimited(this.reading).message()).contains("Limit 600", "Please try again in 70ms.");
	}

	@Test
	void a_stream_of_anthropic_starts_and_stops_the_message_and_its_block() {
		assertThat(this.anthropic.events(this.request, "1", NOW)).extracting((event) -> event.lines().findFirst().get())
			.startsWith("event: message_start", "event: content_block_start", "event: ping",
					"event: content_block_delta")
			.endsWith("event: content_block_delta", "event: content_block_stop", "event: message_delta",
					"event: message_stop");
	}

	@Test
	void a_stream_of_openai_ends_with_the_usage_and_done() {
		assertThat(this.openai.events(this.request, "1", NOW)).endsWith("data: [DONE]\n\n")
			.element(-2 + this.openai.events(this.request, "1", NOW).size())
			.asString()
			.contains("\"choices\":[],\"usage\":{\"prompt_tokens\"");
	}

	@Test
	void every_event_holds_one_line_of_valid_json() {
		JsonMapper json = new JsonMapper();
		for (Dialect dialect : new Dialect[] { this.anthropic, this.openai }) {
			for (String event : dialect.events(this.request, "1", NOW)) {
				assertThat(event).endsWith("\n\n");
				assertThat(event.lines().filter((line) -> line.startsWith("data: "))).hasSize(1).allSatisfy((line) -> {
					String data = line.substring("data: ".length());
					assertThat(data.equals("[DONE]") || json.readTree(data).isObject()).isTrue();
				});
			}
		}
	}

}
