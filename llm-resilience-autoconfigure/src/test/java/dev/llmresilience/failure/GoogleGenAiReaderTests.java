package dev.llmresilience.failure;

import java.time.Duration;
import java.util.Map;

import com.google.genai.ResponseStream;
import com.google.genai.errors.ApiException;
import com.google.genai.errors.GenAiIOException;
import com.google.genai.types.GenerateContentResponse;
import com.google.genai.types.HttpOptions;
import com.google.genai.types.HttpRetryOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for {@link GoogleGenAiReader} and {@link GoogleInteractionsReader} with the
 * exceptions of the real SDK.
 */
class GoogleGenAiReaderTests extends ClientContract {

	@Override
	Map<String, Client> clients() {
		return Map.of("blocking",
				(url, timeout) -> client(url, timeout).models.generateContent("gemini-x", "hello", null), "async",
				(url, timeout) -> client(url, timeout).async.models.generateContent("gemini-x", "hello", null).get(),
				"streaming", GoogleGenAiReaderTests::stream);
	}

	@Override
	Map<String, String> differences() {
		// There is one time limit for everything; and what is no event is skipped.
		return Map.of("blocking CONNECT_TIMEOUT", "TIMEOUT", "async CONNECT_TIMEOUT", "TIMEOUT",
				"streaming CONNECT_TIMEOUT", "TIMEOUT", "streaming NO_JSON", "no failure");
	}

	@ParameterizedTest(name = "{0} {1} -> {2}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					429 | {"error":{"code":429,"message":"You exceeded your current quota. Please retry in 38.6s.","status":"RESOURCE_EXHAUSTED"}} | RATE_LIMITED after 38.6s
					400 | {"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}   | INVALID_REQUEST
					403 | {"error":{"code":403,"message":"no","status":"PERMISSION_DENIED"}}   | UNAUTHORIZED
					403 | ``                                                                   | UNAUTHORIZED
					500 | {"error":{"code":500,"message":"x","status":"INTERNAL"}}             | SERVER_ERROR
					502 | <html>Bad Gateway</html>                                             | TIMEOUT
					503 | {"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}} | OVERLOADED
					529 | ``                                                                   | OVERLOADED
					""")
	void readsStatusAndMessageOfAnErrorResponse(int status, String body, String expected) {
		try (FakeProvider provider = FakeProvider.answering(status, "", body)) {
			assertThat(clients().values()).allSatisfy((client) -> {
				Throwable thrown = client.fail(provider.url());
				assertThat(Failures.judge(thrown, ProviderType.GOOGLE)).isEqualTo(expected);
				assertThat(Failures.classify(thrown, ProviderType.GOOGLE).status()).isEqualTo(status);
			});
		}
	}

	@ParameterizedTest(name = "{0} -> {1}")
	@CsvSource({ "429, QUOTA_EXHAUSTED after 2s latches ACCOUNT until 2026-10-01T00:00:02Z",
			"400, QUOTA_EXHAUSTED after 2s latches ACCOUNT until 2026-10-01T00:00:02Z",
			"503, QUOTA_EXHAUSTED after 2s latches ACCOUNT until 2026-10-01T00:00:02Z" })
	void readsStatusHeadersAndBodyOfTheInteractionsApi(int status, String expected) {
		try (FakeProvider provider = FakeProvider.answering(status, "Retry-After: 2", """
				{"error":{"code":"insufficient_quota"}}""")) {
			Throwable thrown = catchThrowable(() -> client(provider.url(), LONG).interactions.delete("x"));
			assertThat(Failures.judge(thrown, ProviderType.OPENAI)).isEqualTo(expected);
			assertThat(Failures.classify(thrown, ProviderType.OPENAI).status()).isEqualTo(status);
		}
	}

	@Test
	void readsAnExceptionOfTheInteractionsApiWithoutHeadersOrBody() {
		try (FakeProvider provider = FakeProvider.answering(529, "", "")) {
			Throwable thrown = catchThrowable(() -> client(provider.url(), LONG).interactions.delete("x"));
			assertThat(Failures.judge(thrown)).isEqualTo("OVERLOADED");
		}
	}

	@Test
	void theStatusOfTheBodyIsTheCodeAndAReasonPhraseIsNone() {
		assertThat(code(new ApiException(503, "UNAVAILABLE", "x"))).isEqualTo("UNAVAILABLE");
		assertThat(code(new ApiException(403, "Forbidden", "x"))).isNull();
		assertThat(code(new ApiException(403, null, null))).isNull();
	}

	@Test
	void readsAnErrorWithinAStream() {
		String events = """
				data: {"error":{"code":429,"message":"Please retry in 38.6s.","status":"RESOURCE_EXHAUSTED"}}

				""";
		try (FakeProvider provider = FakeProvider.answering(200, "Content-Type: text/event-stream", events)) {
			assertThat(Failures.judge(catchThrowable(() -> stream(provider.url(), LONG))))
				.isEqualTo("RATE_LIMITED after 38.6s");
		}
	}

	@Test
	void anIoFailureWithoutACauseIsAConnectionFailure() {
		assertThat(Failures.judge(new GenAiIOException("Failed to execute HTTP request."))).isEqualTo("CONNECTION");
	}

	private static @Nullable String code(Throwable thrown) {
		return Failures.classify(thrown, ProviderType.GOOGLE).code();
	}

	private static @Nullable Object stream(String url, Duration timeout) {
		try (ResponseStream<GenerateContentResponse> stream = client(url, timeout).models
			.generateContentStream("gemini-x", "hello", null)) {
			stream.forEach((event) -> {
			});
			return null;
		}
	}

	private static com.google.genai.Client client(String url, Duration timeout) {
		HttpOptions options = HttpOptions.builder()
			.baseUrl(url)
			.timeout((int) timeout.toMillis())
			.retryOptions(HttpRetryOptions.builder().attempts(1).build())
			.build();
		return com.google.genai.Client.builder().apiKey("test").httpOptions(options).build();
	}

}
