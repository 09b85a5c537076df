package dev.llmresilience.failure;

import java.util.Random;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what a status means where the body tells nothing, and for the server's
 * explicit word.
 */
class StatusTests {

	@ParameterizedTest(name = "{0} -> {1}")
	@CsvSource(delimiter = '|', textBlock = """
			301 | MISCONFIGURED
			307 | MISCONFIGURED
			400 | INVALID_REQUEST
			401 | UNAUTHORIZED
			402 | QUOTA_EXHAUSTED
			403 | UNAUTHORIZED
			404 | INVALID_REQUEST
			405 | INVALID_REQUEST
			407 | MISCONFIGURED
			408 | TIMEOUT
			409 | CONFLICT
			413 | TOO_LARGE
			415 | INVALID_REQUEST
			418 | INVALID_REQUEST
			422 | INVALID_REQUEST
			425 | CONFLICT
			429 | RATE_LIMITED retries<=1
			499 | CANCELLED
			500 | SERVER_ERROR
			501 | MISCONFIGURED
			502 | TIMEOUT
			503 | OVERLOADED
			504 | TIMEOUT
			505 | MISCONFIGURED
			520 | SERVER_ERROR
			529 | OVERLOADED
			599 | SERVER_ERROR
			""")
	void theStatusDecidesWhereTheBodyIsSilent(int status, String expected) {
		for (ProviderType type : ProviderType.values()) {
			assertThat(Failures.judge(Failures.response(status, null, null), type)).isEqualTo(expected);
		}
	}

	@ParameterizedTest(name = "{0} {1} -> {2}")
	@CsvSource(delimiter = '|', textBlock = """
			400 | x-should-retry: true                  | INVALID_REQUEST RETRY
			503 | x-should-retry: false                 | OVERLOADED NO_RETRY
			429 | X-Should-Retry:  TRUE                 | RATE_LIMITED RETRY
			429 | x-should-retry: false; Retry-After: 2 | RATE_LIMITED after 2s NO_RETRY
			503 | x-should-retry: maybe                 | OVERLOADED
			413 | x-should-retry: true                  | TOO_LARGE
			402 | x-should-retry: true                  | QUOTA_EXHAUSTED
			499 | x-should-retry: true                  | CANCELLED
			""")
	void theServersWordBeatsTheStatusButNotWhatCanNeverWork(int status, String headers, String expected) {
		assertThat(Failures.judge(Failures.response(status, headers, null))).isEqualTo(expected);
	}

	@ParameterizedTest(name = "{0} -> {1}")
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			{}                                                  | RATE_LIMITED retries<=1
			{"error":{"message":"no"}}                          | RATE_LIMITED retries<=1
			<html><body>429 Too Many Requests, rate limit       | RATE_LIMITED retries<=1
			{"error":{"message":"Rate limit is exceeded"}}      | RATE_LIMITED
			{"error":{"message":"Too many requests"}}           | RATE_LIMITED
			{"message":"You are past the per minute request limit"} | RATE_LIMITED
			{"message":"Too many concurrent calls"}             | RATE_LIMITED
			Rate limit exceeded                                 | RATE_LIMITED
			""")
	void aRateLimitWithoutHintWhoseBodyDoesNotSaySoDeservesOneRetry(String body, String expected) {
		assertThat(Failures.judge(Failures.response(429, null, body))).isEqualTo(expected);
	}

	@ParameterizedTest(name = "{0}")
	@CsvSource(delimiter = '|', quoteCharacter = '`', nullValues = "none", textBlock = """
			none
			<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1> request too large, rate limit
			{"error":
			{"error":{"type":"server_
			]]]
			[1]
			["x", ["y"]]
			{} 5
			null
			"x"
			42
			{"error":null}
			{"error":[]}
			[[[[{"error":{"code":{"code":1}}}]]]]
			{"error":{"code":true,"type":1.5,"message":{"a":"b"}}}
			""")
	void aStrangeBodyLeavesItToTheStatus(@Nullable String body) {
		assertThat(Failures.judge(Failures.response(502, null, body))).isEqualTo("TIMEOUT");
	}

	@ParameterizedTest
	@EnumSource
	void aHugeBodyIsNotReadToItsEnd(ProviderType type) {
		String body = "{\"filler\":\"" + "x".repeat(64 * 1024) + "\",\"error\":{\"code\":\"insufficient_quota\"}}";
		assertThat(Failures.judge(Failures.response(500, null, body), type)).isEqualTo("SERVER_ERROR");
	}

	@Test
	void whatStandsBeforeTheCutOfAHugeBodyCounts() {
		String body = "{\"error\":{\"code\":\"insufficient_quota\",\"filler\":\"" + "x".repeat(64 * 1024) + "\"}}";
		assertThat(Failures.judge(Failures.response(429, null, body))).isEqualTo("QUOTA_EXHAUSTED latches ACCOUNT");
	}

	@Test
	void aDeeplyNestedBodyLeavesItToTheStatus() {
		String body = "[".repeat(30_000) + "{\"a\":".repeat(5000);
		assertThat(Failures.judge(Failures.response(500, null, body))).isEqualTo("SERVER_ERROR");
	}

	@Test
	void bytesThatAreNoTextLeaveItToTheStatus() {
		byte[] junk = new byte[1000];
		new Random(1).nextBytes(junk);
		junk[0] = 0x1f;
		junk[1] = (byte) 0x8b;
		assertThat(ErrorBody.parse(junk).codes()).isEmpty();
	}

	@Test
	void blankLinesAndAByteOrderMarkBeforeABodyDoNotMatter() {
		String body = "\uFEFF\n\n{\"error\":{\"code\":\"insufficient_quota\"}}";
		assertThat(Failures.judge(Failures.response(429, null, body))).isEqualTo("QUOTA_EXHAUSTED latches ACCOUNT");
	}

	@ParameterizedTest(name = "{0} -> {1}")
	@CsvSource(delimiter = '|', quoteCharacter = '`', nullValues = "none", textBlock = """
			{"error":{"code":"model_not_found","type":"invalid_request_error"}} | model_not_found
			{"error":{"code":null,"type":"server_error"}}                       | server_error
			{"type":"error","error":{"type":"overloaded_error"}}                | overloaded_error
			{"type":"error"}                                                    | none
			{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}                | RESOURCE_EXHAUSTED
			{"error":{"code":"3505","type":"x"}}                                | 3505
			{"error":{"code":"my name is Bob","type":"bad_thing"}}              | bad_thing
			{"error":{"code":"a\\nb"}}                                          | none
			{"error":{"code":"ключ"}}                                           | none
			{"error":{"message":"secret"}}                                      | none
			""")
	void keepsOnlyACodeThatIsSafeToLog(String body, @Nullable String expected) {
		assertThat(Failures.classify(Failures.response(400, null, body), ProviderType.GENERIC).code())
			.isEqualTo(expected);
	}

	@Test
	void dropsACodeThatIsTooLong() {
		String body = "{\"error\":{\"code\":\"" + "x".repeat(65) + "\"}}";
		assertThat(Failures.classify(Failures.response(400, null, body), ProviderType.GENERIC).code()).isNull();
	}

	@Test
	void aBodyDoesNotShowItsTextByAccident() {
		assertThat(ErrorBody.parse("{\"error\":{\"message\":\"secret\",\"code\":\"secret\"}}").toString())
			.doesNotContain("secret");
	}

}
