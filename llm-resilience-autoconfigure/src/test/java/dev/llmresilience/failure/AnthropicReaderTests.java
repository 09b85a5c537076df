package dev.llmresilience.failure;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.Timeout;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.errors.AnthropicIoException;
import com.anthropic.errors.AnthropicServiceException;
import com.anthropic.errors.SseException;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for {@link AnthropicReader} with the exceptions of the real SDK.
 */
class AnthropicReaderTests {

	private static final Duration SHORT = Duration.ofMillis(200);

	@ParameterizedTest(name = "{0} {1} {2} -> {3}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					429 | retry-after: 12       | {"type":"error","error":{"type":"rate_limit_error","message":"slow"}}                       | RATE_LIMITED after 12s
					429 | retry-after-ms: 50    | {"type":"error","error":{"type":"rate_limit_error","message":"slow"}}                       | RATE_LIMITED after 0.05s
					429 | x-a: b                | {"type":"error","error":{"type":"rate_limit_error","message":"You have reached your API usage limits","details":{"error_code":"enforced_spend_limit_reached"}}} | QUOTA_EXHAUSTED latches ACCOUNT
					400 | x-should-retry: false | {"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}} | QUOTA_EXHAUSTED NO_RETRY
					400 | x-a: b                | {"type":"error","error":{"type":"invalid_request_error","message":"bad"}}                   | INVALID_REQUEST
					402 | x-a: b                | {"type":"error","error":{"type":"billing_error","message":"pay"}}                           | QUOTA_EXHAUSTED latches ACCOUNT
					404 | x-a: b                | {"type":"error","error":{"type":"not_found_error","message":"model"}}                       | INVALID_REQUEST
					408 | x-a: b                | {}                                                                                          | TIMEOUT
					409 | x-a: b                | {"type":"error","error":{"type":"conflict_error","message":"x"}}                            | CONFLICT
					413 | x-a: b                | {"type":"error","error":{"type":"request_too_large","message":"x"}}                         | TOO_LARGE
					500 | x-a: b                | {"type":"error","error":{"type":"api_error","message":"x"}}                                 | SERVER_ERROR
					502 | x-a: b                | <html>Bad Gateway</html>                                                                    | TIMEOUT
					504 | x-a: b                | null                                                                                        | TIMEOUT
					529 | retry-after: 3        | {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}                 | OVERLOADED after 3s
					""")
	void readsStatusHeadersAndBodyOfAnErrorResponse(int status, String headers, String body, String expected) {
		try (FakeProvider provider = FakeProvider.answering(status, headers, body)) {
			Throwable thrown = call(client(provider.url()));
			assertThat(thrown).isInstanceOf(AnthropicServiceException.class);
			assertThat(Failures.judge(thrown, ProviderType.ANTHROPIC)).isEqualTo(expected);
		}
	}

	/** Cases C58 and C60. */
	@ParameterizedTest(name = "{0} -> {1}")
	@CsvSource(delimiter = '|', textBlock = """
			overloaded_error      | OVERLOADED
			api_error             | SERVER_ERROR
			rate_limit_error      | RATE_LIMITED
			timeout_error         | TIMEOUT
			invalid_request_error | INVALID_REQUEST
			""")
	void judgesAnErrorWithinAStreamByItsTypeAlthoughItsStatusIsSuccess(String type, String expected) {
		String events = """
				event: error
				data: {"type":"error","error":{"details":null,"type":"%s","message":"x"},"request_id":"req_x"}

				""".formatted(type);
		try (FakeProvider provider = FakeProvider.answering(200, "Content-Type: text/event-stream", events)) {
			Throwable thrown = catchThrowable(() -> {
				try (StreamResponse<RawMessageStreamEvent> stream = client(provider.url()).messages()
					.createStreaming(request())) {
					stream.stream().forEach((event) -> {
					});
				}
			});
			assertThat(thrown).isInstanceOfSatisfying(SseException.class,
					(sse) -> assertThat(sse.statusCode()).isEqualTo(200));
			assertThat(Failures.judge(thrown, ProviderType.ANTHROPIC)).isEqualTo(expected);
		}
	}

	@Test
	void aRefusedConnectionWasNotSent() {
		Throwable thrown = call(client(FakeProvider.refusingUrl()));
		assertThat(thrown).isInstanceOf(AnthropicIoException.class);
		assertThat(Failures.judge(thrown)).isEqualTo("CONNECTION unsent");
	}

	@Test
	void anUnknownHostIsTriedOnceMore() {
		assertThat(Failures.judge(call(client("http://host.invalid")))).isEqualTo("CONNECTION unsent retries<=1");
	}

	@Test
	void noAnswerInTimeIsATimeout() {
		try (FakeProvider provider = FakeProvider.silent()) {
			Throwable thrown = call(client(provider.url(), Timeout.builder().read(SHORT).build()));
			assertThat(thrown).isInstanceOf(AnthropicIoException.class);
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
			assertThat(Failures.judge(call(client(provider.url())), ProviderType.ANTHROPIC)).isEqualTo("SERVER_ERROR");
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
		assertThat(Failures.judge(new AnthropicIoException("Connection error."))).isEqualTo("CONNECTION");
	}

	@Test
	void anAnswerThatDoesNotParseIsTheCallersAffair() {
		try (FakeProvider provider = FakeProvider.answering(200, "", "this is no JSON")) {
			assertThat(Failures.judge(call(client(provider.url())))).isEqualTo("APPLICATION");
		}
	}

	private static Throwable call(AnthropicClient client) {
		return catchThrowable(() -> client.messages().create(request()));
	}

	private static MessageCreateParams request() {
		return MessageCreateParams.builder().model("claude-x").maxTokens(16).addUserMessage("hello").build();
	}

	private static AnthropicClient client(String url) {
		return client(url, Timeout.builder().build());
	}

	private static AnthropicClient client(String url, Timeout timeout) {
		return AnthropicOkHttpClient.builder().apiKey("test").baseUrl(url).maxRetries(0).timeout(timeout).build();
	}

}
