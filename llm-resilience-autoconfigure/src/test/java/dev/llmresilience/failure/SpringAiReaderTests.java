package dev.llmresilience.failure;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import com.google.genai.types.HttpOptions;
import com.google.genai.types.HttpRetryOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.google.genai.GoogleGenAiChatModel;
import org.springframework.ai.google.genai.GoogleGenAiChatOptions;
import org.springframework.ai.ollama.api.OllamaApi;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.retry.NonTransientAiException;
import org.springframework.ai.retry.TransientAiException;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for {@link SpringAiReader} with the exceptions of the real modules, and for the
 * SDKs' exceptions that the other modules let through.
 */
class SpringAiReaderTests extends ClientContract {

	@Override
	Map<String, Client> clients() {
		return Map.of("Ollama", SpringAiReaderTests::callOllama, "OpenAI",
				(url, timeout) -> openAi(url, timeout).call("hello"), "Google",
				(url, timeout) -> google(url, timeout).call("hello"));
	}

	@Override
	Map<String, String> differences() {
		// A truncated answer passes for a complete one below Ollama's client; the SDKs
		// have one time limit for everything.
		return Map.of("Ollama BREAKS_OFF", brokenOff("APPLICATION"), "OpenAI CONNECT_TIMEOUT", "TIMEOUT",
				"Google CONNECT_TIMEOUT", "TIMEOUT");
	}

	@ParameterizedTest(name = "{0} {1} -> {2}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					429 | {"error":{"code":"rate_limit_exceeded","message":"Please try again in 456ms."}} | RATE_LIMITED after 0.456s
					429 | {"error":{"code":"insufficient_quota","message":"quota"}}                       | QUOTA_EXHAUSTED latches ACCOUNT
					400 | {"error":"bad"}                                                                 | INVALID_REQUEST
					404 | {"error":"model 'x' not found"}                                                 | INVALID_REQUEST
					408 | ``                                                                              | TIMEOUT
					409 | ``                                                                              | CONFLICT
					500 | {"error":"out of memory"}                                                       | SERVER_ERROR
					502 | <html>429 - slow down</html>                                                    | TIMEOUT
					529 | ``                                                                              | OVERLOADED
					""")
	void readsStatusAndBodyOutOfTheMessage(int status, String body, String expected) {
		try (FakeProvider provider = FakeProvider.answering(status, "", body)) {
			Throwable thrown = catchThrowable(() -> callOllama(provider.url(), LONG));
			assertThat(thrown).isInstanceOfAny(TransientAiException.class, NonTransientAiException.class);
			assertThat(Failures.judge(thrown, ProviderType.OPENAI)).isEqualTo(expected);
			assertThat(Failures.classify(thrown, ProviderType.OPENAI).status()).isEqualTo(status);
		}
	}

	@ParameterizedTest(name = "{0} -> {1} or {2}")
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			HTTP 429 - {"message":"Please retry after 37 seconds."} | RATE_LIMITED after 37s | RATE_LIMITED after 37s
			HTTP 503 - No response body available                   | OVERLOADED             | OVERLOADED
			HTTP 429 -                                              | SERVER_ERROR           | APPLICATION
			429                                                     | SERVER_ERROR           | APPLICATION
			42x - slow                                              | SERVER_ERROR           | APPLICATION
			4                                                       | SERVER_ERROR           | APPLICATION
			No answer                                               | SERVER_ERROR           | APPLICATION
			``                                                      | SERVER_ERROR           | APPLICATION
			""")
	void aMessageWithoutAStatusLeavesItToTheType(String message, String whenTransient, String whenNonTransient) {
		assertThat(Failures.judge(new TransientAiException(message))).isEqualTo(whenTransient);
		assertThat(Failures.judge(new NonTransientAiException(message))).isEqualTo(whenNonTransient);
	}

	@Test
	void theCauseOfATransientExceptionKnowsBetter() {
		assertThat(Failures.judge(new TransientAiException("failed", Failures.response(400, null, null))))
			.isEqualTo("INVALID_REQUEST");
	}

	@Test
	void readsTheSdksExceptionsThatOtherModulesLetThrough() {
		String body = """
				{"error":{"code":429,"message":"Please retry in 38.6s.","status":"RESOURCE_EXHAUSTED"}}""";
		try (FakeProvider provider = FakeProvider.answering(429, "Retry-After: 3", body)) {
			assertThat(Failures.judge(catchThrowable(() -> openAi(provider.url(), LONG).call("hello"))))
				.isEqualTo("RATE_LIMITED after 38.6s");
			Throwable inStream = catchThrowable(() -> openAi(provider.url(), LONG).stream("hello").blockLast());
			assertThat(Failures.judge(inStream)).isEqualTo("RATE_LIMITED after 38.6s");
			Throwable wrapped = catchThrowable(() -> google(provider.url(), LONG).call("hello"));
			assertThat(wrapped).isExactlyInstanceOf(RuntimeException.class);
			assertThat(Failures.judge(wrapped)).isEqualTo("RATE_LIMITED after 38.6s");
		}
	}

	private static OllamaApi.@Nullable ChatResponse callOllama(String url, Duration timeout) {
		SimpleClientHttpRequestFactory client = new SimpleClientHttpRequestFactory();
		client.setConnectTimeout(timeout);
		client.setReadTimeout(timeout);
		return OllamaApi.builder()
			.baseUrl(url)
			.restClientBuilder(RestClient.builder().requestFactory(client))
			.build()
			.chat(OllamaApi.ChatRequest.builder("x").messages(List.of()).stream(false).build());
	}

	private static OpenAiChatModel openAi(String url, Duration timeout) {
		return OpenAiChatModel.builder()
			.options(OpenAiChatOptions.builder()
				.baseUrl(url)
				.apiKey("test")
				.model("gpt-x")
				.maxRetries(0)
				.timeout(timeout)
				.build())
			.build();
	}

	private static ChatModel google(String url, Duration timeout) {
		HttpOptions options = HttpOptions.builder()
			.baseUrl(url)
			.timeout((int) timeout.toMillis())
			.retryOptions(HttpRetryOptions.builder().attempts(1).build())
			.build();
		return GoogleGenAiChatModel.builder()
			.genAiClient(com.google.genai.Client.builder().apiKey("test").httpOptions(options).build())
			.options(GoogleGenAiChatOptions.builder().model("gemini-x").build())
			.build();
	}

}
