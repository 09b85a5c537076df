package dev.llmresilience.failure;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.apache.hc.client5.http.HttpResponseException;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.BasicHttpClientResponseHandler;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.ConnectionRequestTimeoutException;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.util.Timeout;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.http.client.HttpComponentsClientHttpRequestFactory;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for {@link HttpComponentsReader} with the exceptions of the real client, alone
 * and below Spring's.
 */
class HttpComponentsReaderTests extends ClientContract {

	@Override
	Map<String, Client> clients() {
		return Map.of("HttpClient", HttpComponentsReaderTests::call, "RestClient", (url, timeout) -> {
			try (CloseableHttpClient client = client(timeout)) {
				return callRestClient(client, url);
			}
		});
	}

	@Override
	Map<String, String> differences() {
		return Map.of("HttpClient NO_JSON", "no failure");
	}

	@ParameterizedTest(name = "{0} -> {1}")
	@CsvSource({ "429, RATE_LIMITED retries<=1", "400, INVALID_REQUEST", "502, TIMEOUT", "529, OVERLOADED" })
	void readsTheStatusOfAnErrorResponse(int status, String expected) {
		try (FakeProvider provider = FakeProvider.answering(status, "", "{}")) {
			Throwable thrown = catchThrowable(() -> call(provider.url(), LONG));
			assertThat(thrown).isInstanceOf(HttpResponseException.class);
			assertThat(Failures.judge(thrown)).isEqualTo(expected);
		}
	}

	@Test
	void readsTheBodyWhereItWasKept() {
		byte[] body = "{\"error\":{\"code\":\"insufficient_quota\"}}".getBytes(StandardCharsets.UTF_8);
		assertThat(Failures.judge(new HttpResponseException(429, "", body, ContentType.APPLICATION_JSON),
				ProviderType.OPENAI))
			.isEqualTo("QUOTA_EXHAUSTED latches ACCOUNT");
	}

	@Test
	void anEmptyConnectionPoolIsNoFailureOfTheProvider() throws Exception {
		RequestConfig impatient = RequestConfig.custom()
			.setConnectionRequestTimeout(Timeout.ofMilliseconds(SHORT.toMillis()))
			.build();
		try (FakeProvider provider = FakeProvider.answering(200, "", "{}");
				CloseableHttpClient client = HttpClients.custom()
					.setDefaultRequestConfig(impatient)
					.setConnectionManager(PoolingHttpClientConnectionManagerBuilder.create().setMaxConnTotal(1).build())
					.build();
				ClassicHttpResponse open = client.executeOpen(null, new HttpPost(provider.url()), null)) {
			Throwable thrown = catchThrowable(() -> callRestClient(client, provider.url()));
			assertThat(open.getCode()).isEqualTo(200);
			assertThat(thrown).isInstanceOf(ResourceAccessException.class)
				.hasCauseInstanceOf(ConnectionRequestTimeoutException.class);
			assertThat(Failures.judge(thrown)).isEqualTo("APPLICATION");
		}
	}

	@Test
	void anAbortedRequestIsCancelled() throws Exception {
		try (FakeProvider provider = FakeProvider.silent(); CloseableHttpClient client = HttpClients.createDefault()) {
			HttpPost request = new HttpPost(provider.url());
			CompletableFuture<Throwable> failure = CompletableFuture
				.supplyAsync(() -> catchThrowable(() -> client.execute(request, new BasicHttpClientResponseHandler())));
			provider.awaitRequest();
			request.abort();
			assertThat(Failures.judge(failure.get(1, TimeUnit.MINUTES))).isEqualTo("CANCELLED");
		}
	}

	@Test
	void anInterruptedCallIsCancelled() throws Exception {
		try (FakeProvider provider = FakeProvider.silent(); CloseableHttpClient client = client(LONG)) {
			Thread.currentThread().interrupt();
			Throwable thrown = catchThrowable(() -> callRestClient(client, provider.url()));
			assertThat(Thread.interrupted()).isTrue();
			assertThat(Failures.judge(thrown)).isEqualTo("CANCELLED");
		}
	}

	private static String call(String url, Duration timeout) throws Exception {
		try (CloseableHttpClient client = client(timeout)) {
			return client.execute(new HttpPost(url), new BasicHttpClientResponseHandler());
		}
	}

	private static @Nullable Object callRestClient(CloseableHttpClient client, String url) {
		return RestClient.builder()
			.requestFactory(new HttpComponentsClientHttpRequestFactory(client))
			.build()
			.post()
			.uri(url)
			.body("hello")
			.retrieve()
			.body(Map.class);
	}

	private static CloseableHttpClient client(Duration timeout) {
		Timeout limit = Timeout.ofMilliseconds(timeout.toMillis());
		return HttpClients.custom()
			.disableAutomaticRetries()
			.setConnectionManager(PoolingHttpClientConnectionManagerBuilder.create()
				.setDefaultConnectionConfig(
						ConnectionConfig.custom().setConnectTimeout(limit).setSocketTimeout(limit).build())
				.build())
			.build();
	}

}
