package dev.llmresilience.failure;

import java.time.Duration;
import java.util.Map;

import com.azure.core.annotation.BodyParam;
import com.azure.core.annotation.ExpectedResponses;
import com.azure.core.annotation.Host;
import com.azure.core.annotation.HostParam;
import com.azure.core.annotation.Post;
import com.azure.core.annotation.ServiceInterface;
import com.azure.core.exception.ClientAuthenticationException;
import com.azure.core.exception.HttpResponseException;
import com.azure.core.http.HttpClient;
import com.azure.core.http.HttpPipeline;
import com.azure.core.http.HttpPipelineBuilder;
import com.azure.core.http.jdk.httpclient.JdkHttpClientBuilder;
import com.azure.core.http.rest.RestProxy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for {@link AzureReader} with the exceptions of the core that all of Azure's SDKs
 * are made of.
 */
class AzureReaderTests extends ClientContract {

	private static final Map<String, Object> PROMPT = Map.of("prompt", "hello");

	@Override
	Map<String, Client> clients() {
		return Map.of("blocking", (url, timeout) -> chat(timeout).chat(url, PROMPT), "reactive",
				(url, timeout) -> chat(timeout).chatLater(url, PROMPT).block());
	}

	@ParameterizedTest(name = "{0} {1} {2} -> {3}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					429 | Retry-After: 2; retry-after-ms: 1200 | {"error":{"code":"429","message":"Rate limit is exceeded."}}        | RATE_LIMITED after 1.2s
					429 | x-a: b                               | {"error":{"code":"429","message":"Please retry after 37 seconds."}} | RATE_LIMITED after 37s
					429 | x-a: b                               | {"error":{"code":"insufficient_quota"}}                             | QUOTA_EXHAUSTED latches ACCOUNT
					429 | Content-Type: text/plain             | Please retry after 6 seconds.                                       | RATE_LIMITED after 6s
					400 | Retry-After: 3                       | {"error":{"code":"content_filter"}}                                 | INVALID_REQUEST after 3s
					408 | x-a: b                               | ``                                                                  | TIMEOUT
					502 | x-a: b                               | <html>Bad Gateway</html>                                            | TIMEOUT
					529 | x-a: b                               | ``                                                                  | OVERLOADED
					""")
	void readsStatusHeadersAndBodyOfAnErrorResponse(int status, String headers, String body, String expected) {
		try (FakeProvider provider = FakeProvider.answering(status, headers, body)) {
			assertThat(clients().values()).allSatisfy((client) -> {
				Throwable thrown = client.fail(provider.url());
				assertThat(thrown).isInstanceOf(HttpResponseException.class);
				assertThat(Failures.judge(thrown, ProviderType.AZURE_OPENAI)).isEqualTo(expected);
				assertThat(Failures.classify(thrown, ProviderType.AZURE_OPENAI).status()).isEqualTo(status);
			});
		}
	}

	@Test
	void anExceptionWithoutAResponseIsJudgedByItsCause() {
		assertThat(Failures.judge(new HttpResponseException("x", null, Failures.response(503, null, null))))
			.isEqualTo("OVERLOADED");
		assertThat(Failures.judge(new HttpResponseException("x", null))).isEqualTo("APPLICATION");
		assertThat(Failures.judge(new ClientAuthenticationException("x", null))).isEqualTo("UNAUTHORIZED");
	}

	@Test
	void anInterruptedCallIsCancelled() {
		try (FakeProvider provider = FakeProvider.silent()) {
			Thread.currentThread().interrupt();
			Throwable thrown = catchThrowable(() -> chat(LONG).chat(provider.url(), PROMPT));
			assertThat(Failures.judge(thrown)).isEqualTo("CANCELLED");
		}
		finally {
			Thread.interrupted();
		}
	}

	private static Chat chat(Duration timeout) {
		HttpClient client = new JdkHttpClientBuilder().connectionTimeout(timeout)
			.responseTimeout(timeout)
			.readTimeout(timeout)
			.build();
		HttpPipeline pipeline = new HttpPipelineBuilder().httpClient(client).build();
		return RestProxy.create(Chat.class, pipeline);
	}

	@Host("{url}")
	@ServiceInterface(name = "Chat")
	interface Chat {

		@Post("/chat")
		@ExpectedResponses(200)
		Map<String, Object> chat(@HostParam("url") String url, @BodyParam("application/json") Map<String, Object> body);

		@Post("/chat")
		@ExpectedResponses(200)
		Mono<Map<String, Object>> chatLater(@HostParam("url") String url,
				@BodyParam("application/json") Map<String, Object> body);

	}

}
