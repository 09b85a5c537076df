package dev.llmresilience.failure;

import java.time.Duration;
import java.util.Map;

import feign.Feign;
import feign.FeignException;
import feign.Request;
import feign.RequestLine;
import feign.Response;
import feign.RetryableException;
import feign.Retryer;
import feign.codec.EncodeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for {@link FeignReader} with the exceptions of the real client.
 */
class FeignReaderTests extends ClientContract {

	@Override
	Map<String, Client> clients() {
		return Map.of("Feign", (url, timeout) -> chat(Feign.builder(), url, timeout).chat("hello"));
	}

	@Override
	Map<String, String> differences() {
		// Its default client takes a truncated answer for a complete one.
		return Map.of("Feign BREAKS_OFF", brokenOff("no failure"), "Feign NO_JSON", "no failure");
	}

	@ParameterizedTest(name = "{0} {1} {2} -> {3}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					429 | Retry-After: 2; retry-after-ms: 1200 | {"error":{"code":"rate_limit_exceeded"}} | RATE_LIMITED after 1.2s
					429 | x-a: b                               | {"error":{"code":"insufficient_quota"}}  | QUOTA_EXHAUSTED latches ACCOUNT
					400 | Retry-After: 3                       | {"error":{"message":"bad"}}              | INVALID_REQUEST after 3s
					400 | x-a: b                               | {"error":{"message":"bad"}}              | INVALID_REQUEST
					503 | x-should-retry: false                | <html>busy</html>                        | OVERLOADED NO_RETRY
					529 | x-a: b                               | ``                                       | OVERLOADED
					""")
	void readsStatusHeadersAndBodyOfAnErrorResponse(int status, String headers, String body, String expected) {
		try (FakeProvider provider = FakeProvider.answering(status, headers, body)) {
			Throwable thrown = catchThrowable(() -> chat(Feign.builder(), provider.url(), LONG).chat("hello"));
			assertThat(thrown).isInstanceOf(FeignException.class);
			assertThat(Failures.judge(thrown, ProviderType.OPENAI)).isEqualTo(expected);
			assertThat(Failures.classify(thrown, ProviderType.OPENAI).status()).isEqualTo(status);
		}
	}

	@Test
	void anExceptionThatKeptNothingButTheInstantOfRetryTellsTheWait() {
		long instant = Failures.NOW.plusMillis(1500).toEpochMilli();
		Feign.Builder builder = Feign.builder()
			.errorDecoder((method, response) -> new RetryableException(response.status(), "busy",
					Request.HttpMethod.POST, instant, response.request()));
		try (FakeProvider provider = FakeProvider.answering(503, "", "")) {
			Throwable thrown = catchThrowable(() -> chat(builder, provider.url(), LONG).chat("hello"));
			assertThat(thrown).isExactlyInstanceOf(RetryableException.class);
			assertThat(Failures.judge(thrown)).isEqualTo("OVERLOADED after 2s");
		}
	}

	@Test
	void whatADecoderOrEncoderThrowsIsTheCallersOwn() {
		try (FakeProvider provider = FakeProvider.answering(200, "", "this is no JSON")) {
			Feign.Builder builder = Feign.builder().decoder(FeignReaderTests::fail);
			Throwable thrown = catchThrowable(() -> chat(builder, provider.url(), LONG).chat("hello"));
			assertThat(thrown).isInstanceOfSatisfying(FeignException.class,
					(feign) -> assertThat(feign.status()).isEqualTo(200));
			assertThat(Failures.judge(thrown)).isEqualTo("APPLICATION");
		}
		assertThat(Failures.judge(new EncodeException("x"))).isEqualTo("APPLICATION");
	}

	private static Object fail(Response response, java.lang.reflect.Type type) {
		throw new IllegalStateException();
	}

	private static Chat chat(Feign.Builder builder, String url, Duration timeout) {
		return builder.retryer(Retryer.NEVER_RETRY)
			.options(new Request.Options(timeout, timeout, true))
			.target(Chat.class, url);
	}

	interface Chat {

		@RequestLine("POST /")
		String chat(String text);

	}

}
