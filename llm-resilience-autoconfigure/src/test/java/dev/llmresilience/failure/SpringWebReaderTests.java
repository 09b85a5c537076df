package dev.llmresilience.failure;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.http.HttpStatus;
import org.springframework.http.client.ClientHttpRequestFactory;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.HttpServerErrorException;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for {@link SpringWebReader} with the exceptions of real clients.
 */
class SpringWebReaderTests {

	private static final Duration SHORT = Duration.ofMillis(100);

	private static final Duration LONG = Duration.ofSeconds(10);

	static Stream<ClientHttpRequestFactory> clients() {
		return Stream.of(new JdkClientHttpRequestFactory(), new SimpleClientHttpRequestFactory());
	}

	@ParameterizedTest
	@MethodSource("clients")
	void readsStatusHeadersAndBodyOfAnErrorResponse(ClientHttpRequestFactory client) {
		try (FakeProvider provider = FakeProvider.answering(429, "Retry-After: 2; retry-after-ms: 1200", """
				{"error":{"code":"rate_limit_exceeded"}}""")) {
			Throwable thrown = call(client, provider.url());
			assertThat(thrown).isInstanceOf(HttpClientErrorException.TooManyRequests.class);
			assertThat(Failures.judge(thrown)).isEqualTo("RATE_LIMITED after 1.2s");
			assertThat(Failures.classify(thrown, ProviderType.OPENAI).code()).isEqualTo("rate_limit_exceeded");
		}
	}

	@ParameterizedTest
	@MethodSource("clients")
	void readsAStatusThatSpringHasNoTypeFor(ClientHttpRequestFactory client) {
		try (FakeProvider provider = FakeProvider.answering(529, "", "")) {
			Throwable thrown = call(client, provider.url());
			assertThat(thrown).isInstanceOf(HttpServerErrorException.class);
			assertThat(Failures.judge(thrown)).isEqualTo("OVERLOADED");
			assertThat(Failures.classify(thrown, ProviderType.ANTHROPIC).status()).isEqualTo(529);
		}
	}

	@Test
	void readsRestTemplateAlike() {
		try (FakeProvider provider = FakeProvider.answering(503, "Retry-After: 6", "<html>busy</html>")) {
			Throwable thrown = catchThrowable(() -> new RestTemplate().getForObject(provider.url(), String.class));
			assertThat(Failures.judge(thrown)).isEqualTo("OVERLOADED after 6s");
		}
	}

	@Test
	void readsAnExceptionWithoutHeaders() {
		assertThat(Failures.judge(new HttpServerErrorException(HttpStatus.INTERNAL_SERVER_ERROR)))
			.isEqualTo("SERVER_ERROR");
	}

	@ParameterizedTest
	@MethodSource("clients")
	void aRefusedConnectionWasNotSent(ClientHttpRequestFactory client) {
		Throwable thrown = call(client, FakeProvider.refusingUrl());
		assertThat(thrown).isInstanceOf(ResourceAccessException.class);
		assertThat(Failures.judge(thrown)).isEqualTo("CONNECTION unsent");
	}

	@ParameterizedTest
	@MethodSource("clients")
	void anUnknownHostIsTriedOnceMore(ClientHttpRequestFactory client) {
		assertThat(Failures.judge(call(client, "http://host.invalid/"))).isEqualTo("CONNECTION unsent retries<=1");
	}

	@Test
	void noAnswerInTimeIsATimeoutOfTheJdkClient() {
		JdkClientHttpRequestFactory client = new JdkClientHttpRequestFactory();
		client.setReadTimeout(SHORT);
		try (FakeProvider provider = FakeProvider.silent()) {
			assertThat(Failures.judge(call(client, provider.url()))).isEqualTo("TIMEOUT");
		}
	}

	@Test
	void noAnswerInTimeIsATimeoutOfTheUrlConnection() {
		SimpleClientHttpRequestFactory client = new SimpleClientHttpRequestFactory();
		client.setReadTimeout(SHORT);
		try (FakeProvider provider = FakeProvider.silent()) {
			assertThat(Failures.judge(call(client, provider.url()))).isEqualTo("TIMEOUT");
		}
	}

	@ParameterizedTest
	@MethodSource("clients")
	void aConnectionThatEndsWithoutAnAnswerMayHaveBeenSent(ClientHttpRequestFactory client) throws Exception {
		try (FakeProvider.HangingUp server = new FakeProvider.HangingUp()) {
			assertThat(Failures.judge(call(client, "http://localhost:" + server.port()))).isEqualTo("CONNECTION");
		}
	}

	@Test
	void anAnswerThatBreaksOffIsAConnectionFailure() {
		try (FakeProvider provider = FakeProvider.breakingOffAfter("{\"a\":\"")) {
			assertThat(Failures.judge(call(new JdkClientHttpRequestFactory(), provider.url()))).isEqualTo("CONNECTION");
		}
	}

	@ParameterizedTest
	@MethodSource("clients")
	void anAnswerThatDoesNotParseIsTheCallersAffair(ClientHttpRequestFactory client) {
		try (FakeProvider provider = FakeProvider.answering(200, "", "this is no JSON")) {
			assertThat(Failures.judge(call(client, provider.url()))).isEqualTo("APPLICATION");
		}
	}

	@Test
	void anInterruptedCallIsCancelled() {
		try (FakeProvider provider = FakeProvider.silent()) {
			Thread.currentThread().interrupt();
			Throwable thrown = call(new JdkClientHttpRequestFactory(), provider.url());
			assertThat(Thread.interrupted()).isTrue();
			assertThat(thrown).isInstanceOf(ResourceAccessException.class);
			assertThat(Failures.judge(thrown)).isEqualTo("CANCELLED");
		}
	}

	@ParameterizedTest
	@MethodSource("clients")
	void aHandshakeThatEndsEarlyWasNotSent(ClientHttpRequestFactory client) throws Exception {
		try (FakeProvider.HangingUp server = new FakeProvider.HangingUp()) {
			assertThat(Failures.judge(call(client, "https://localhost:" + server.port())))
				.isEqualTo("CONNECTION unsent");
		}
	}

	@Test
	void aHandshakeThatTakesTooLongForTheUrlConnectionWasNotSent() throws Exception {
		SimpleClientHttpRequestFactory client = new SimpleClientHttpRequestFactory();
		client.setReadTimeout(SHORT);
		try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
			Throwable thrown = call(client, "https://localhost:" + server.getLocalPort());
			assertThat(Failures.judge(thrown)).isEqualTo("CONNECTION unsent");
		}
	}

	@Test
	void aHandshakeThatTakesTooLongForTheJdkClientWasNotSent() throws Exception {
		HttpClient client = HttpClient.newBuilder().connectTimeout(SHORT).build();
		try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
			Throwable thrown = call(new JdkClientHttpRequestFactory(client),
					"https://localhost:" + server.getLocalPort());
			assertThat(Failures.judge(thrown)).isEqualTo("CONNECTION unsent");
		}
	}

	@ParameterizedTest
	@MethodSource("clients")
	void anUntrustedCertificateIsAMisconfiguration(ClientHttpRequestFactory client, @TempDir Path directory)
			throws Exception {
		try (SelfSignedServer server = new SelfSignedServer(directory)) {
			assertThat(Failures.judge(call(client, server.url()))).isEqualTo("MISCONFIGURED");
		}
	}

	@Test
	void aConnectTimeoutOfTheJdkClientWasNotSent() throws Exception {
		HttpClient client = HttpClient.newBuilder().connectTimeout(SHORT).build();
		try (FullBacklog server = new FullBacklog()) {
			JdkClientHttpRequestFactory factory = new JdkClientHttpRequestFactory(client);
			factory.setReadTimeout(LONG);
			Throwable thrown = call(factory, "http://localhost:" + server.port());
			assertThat(Failures.judge(thrown)).isEqualTo("CONNECTION unsent");
		}
	}

	@Test
	void aConnectTimeoutOfTheUrlConnectionWasNotSent() throws Exception {
		SimpleClientHttpRequestFactory client = new SimpleClientHttpRequestFactory();
		client.setConnectTimeout(SHORT);
		client.setReadTimeout(LONG);
		try (FullBacklog server = new FullBacklog()) {
			Throwable thrown = call(client, "http://localhost:" + server.port());
			assertThat(Failures.judge(thrown)).isEqualTo("CONNECTION unsent");
		}
	}

	private static Throwable call(ClientHttpRequestFactory client, String url) {
		RestClient restClient = RestClient.builder().requestFactory(client).build();
		return catchThrowable(() -> restClient.post().uri(url).body("hello").retrieve().body(Map.class));
	}

}
