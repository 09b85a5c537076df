package dev.llmresilience.failure;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;

import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.Timeout;
import com.openai.core.http.StreamResponse;
import com.openai.errors.OpenAIIoException;
import com.openai.errors.OpenAIServiceException;
import com.openai.errors.SseException;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for {@link OpenAiReader} with the exceptions of the real SDK.
 */
class OpenAiReaderTests {

	private static final Duration SHORT = Duration.ofMillis(200);

	@ParameterizedTest(name = "{0} {1} {2} -> {3}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					429 | Retry-After: 2; retry-after-ms: 1200 | {"error":{"message":"slow","type":"requests","param":null,"code":"rate_limit_exceeded"}} | RATE_LIMITED after 1.2s
					429 | x-a: b                | {"error":{"message":"Limit 10000, Used 5775, Requested 4301. Please try again in 456ms.","type":"tokens","code":"rate_limit_exceeded"}} | RATE_LIMITED after 0.456s
					429 | x-a: b                | {"error":{"message":"Request too large: Limit 30000, Requested 342389.","type":"tokens","code":"rate_limit_exceeded"}} | TOO_LARGE
					429 | x-a: b                | {"error":{"message":"no","type":"insufficient_quota","code":"credit_balance_exhausted"}}       | QUOTA_EXHAUSTED latches ACCOUNT
					429 | x-a: b                | {"error":{"message":"no","type":"insufficient_quota","code":"project_spend_limit_exceeded"}}   | QUOTA_EXHAUSTED latches PROVIDER
					400 | x-a: b                | {"error":{"message":"no","type":"invalid_request_error","code":"context_length_exceeded"}}     | TOO_LARGE
					401 | x-a: b                | {"error":{"message":"no","type":"invalid_request_error","code":"invalid_api_key"}}             | UNAUTHORIZED
					404 | x-a: b                | {"error":{"message":"no","type":"invalid_request_error","code":"model_not_found"}}             | INVALID_REQUEST
					409 | x-should-retry: false | {"error":{"message":"no","type":"conflict"}}                                                   | CONFLICT NO_RETRY
					422 | x-a: b                | {"error":{"message":"no"}}                                                                     | INVALID_REQUEST
					500 | x-a: b                | {"error":{"message":"no","type":"server_error"}}                                               | SERVER_ERROR
					502 | x-a: b                | <html>Bad Gateway</html>                                                                       | TIMEOUT
					503 | Retry-After: 6        | {"error":{"message":"no","type":"service_unavailable_error","code":"server_is_overloaded"}}    | OVERLOADED after 6s
					504 | x-a: b                | null                                                                                           | TIMEOUT
					""")
	void readsStatusHeadersAndBodyOfAnErrorResponse(int status, String headers, String body, String expected) {
		try (FakeProvider provider = FakeProvider.answering(status, headers, body)) {
			Throwable thrown = call(client(provider.url()));
			assertThat(thrown).isInstanceOf(OpenAIServiceException.class);
			assertThat(Failures.judge(thrown, ProviderType.OPENAI)).isEqualTo(expected);
		}
	}

	@ParameterizedTest(name = "{0}/{1} -> {2}")
	@CsvSource(delimiter = '|', textBlock = """
			server_error       | x                   | SERVER_ERROR
			tokens             | rate_limit_exceeded | RATE_LIMITED
			insufficient_quota | insufficient_quota  | QUOTA_EXHAUSTED latches ACCOUNT
			never_heard_of     | x                   | SERVER_ERROR
			""")
	void judgesAnErrorWithinAStreamByItsCodeAlthoughItsStatusIsSuccess(String type, String code, String expected) {
		String events = """
				data: {"error":{"message":"x","type":"%s","param":null,"code":"%s"}}

				""".formatted(type, code);
		try (FakeProvider provider = FakeProvider.answering(200, "Content-Type: text/event-stream", events)) {
			Throwable thrown = catchThrowable(() -> {
				try (StreamResponse<ChatCompletionChunk> stream = client(provider.url()).chat()
					.completions()
					.createStreaming(request())) {
					stream.stream().forEach((chunk) -> {
					});
				}
			});
			assertThat(thrown).isInstanceOfSatisfying(SseException.class,
					(sse) -> assertThat(sse.statusCode()).isEqualTo(200));
			assertThat(Failures.judge(thrown, ProviderType.OPENAI)).isEqualTo(expected);
		}
	}

	@Test
	void aRefusedConnectionWasNotSent() {
		Throwable thrown = call(client(FakeProvider.refusingUrl()));
		assertThat(thrown).isInstanceOf(OpenAIIoException.class);
		assertThat(Failures.judge(thrown)).isEqualTo("CONNECTION unsent");
	}

	@Test
	void noAnswerInTimeIsATimeout() {
		try (FakeProvider provider = FakeProvider.silent()) {
			Throwable thrown = call(client(provider.url(), Timeout.builder().read(SHORT).build()));
			assertThat(thrown).isInstanceOf(OpenAIIoException.class);
			assertThat(Failures.judge(thrown)).isEqualTo("TIMEOUT");
		}
	}

	@Test
	void aHandshakeThatTakesTooLongWasNotSent() throws Exception {
		try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
			String url = "https://localhost:" + server.getLocalPort();
			assertThat(Failures.judge(call(client(url, Timeout.builder().read(SHORT).build()))))
				.isEqualTo("CONNECTION unsent");
		}
	}

	@Test
	void anUntrustedCertificateIsAMisconfiguration(@TempDir Path directory) throws Exception {
		try (SelfSignedServer server = new SelfSignedServer(directory)) {
			assertThat(Failures.judge(call(client(server.url())))).isEqualTo("MISCONFIGURED");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "[1]", "{} 5", "\"x\"", "{\"error\":\"x\"}", "{\"error\":[[{\"code\":1e99999}]]}",
			"{\"error\":{\"code\":true,\"message\":{}}}", "{\"error\":" })
	void aStrangeBodyLeavesItToTheStatus(String body) {
		try (FakeProvider provider = FakeProvider.answering(500, "", body)) {
			assertThat(Failures.judge(call(client(provider.url())), ProviderType.OPENAI)).isEqualTo("SERVER_ERROR");
		}
	}

	@Test
	void aConnectionThatEndsWithoutAnAnswerMayHaveBeenSent() throws Exception {
		try (FakeProvider.HangingUp server = new FakeProvider.HangingUp()) {
			assertThat(Failures.judge(call(client("http://localhost:" + server.port())))).isEqualTo("CONNECTION");
		}
	}

	@Test
	void anIoFailureWithoutACauseIsAConnectionFailure() {
		assertThat(Failures.judge(new OpenAIIoException("Connection error."))).isEqualTo("CONNECTION");
	}

	@Test
	void anAnswerThatDoesNotParseIsTheCallersAffair() {
		try (FakeProvider provider = FakeProvider.answering(200, "", "this is no JSON")) {
			assertThat(Failures.judge(call(client(provider.url())))).isEqualTo("APPLICATION");
		}
	}

	private static Throwable call(OpenAIClient client) {
		return catchThrowable(() -> client.chat().completions().create(request()));
	}

	private static ChatCompletionCreateParams request() {
		return ChatCompletionCreateParams.builder().model("gpt-x").addUserMessage("hello").build();
	}

	private static OpenAIClient client(String url) {
		return client(url, Timeout.builder().build());
	}

	private static OpenAIClient client(String url, Timeout timeout) {
		return OpenAIOkHttpClient.builder().apiKey("test").baseUrl(url).maxRetries(0).timeout(timeout).build();
	}

}
