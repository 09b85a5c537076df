package dev.llmresilience.failure;

import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;

import io.netty.channel.ChannelOption;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.tcp.SslProvider;
import reactor.netty.tcp.TcpSslContextSpec;
import reactor.util.retry.Retry;

import org.springframework.http.client.reactive.ClientHttpConnector;
import org.springframework.http.client.reactive.JdkClientHttpConnector;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.reactive.function.client.UnknownHttpStatusCodeException;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.WebClientRequestException;
import org.springframework.web.reactive.function.client.WebClientResponseException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for {@link WebClientReader}, {@link NettyReader} and {@link ReactorNettyReader}
 * with the exceptions of real clients, and for Reactor's wrappers around them.
 */
class WebClientReaderTests extends ClientContract {

	private static final String SLOW_DOWN = """
			{"error":{"code":"rate_limit_exceeded"}}""";

	@Override
	Map<String, Client> clients() {
		return Map.of("Reactor Netty", WebClientReaderTests::callOverNetty, "JDK",
				(url, timeout) -> call(jdk(timeout), url));
	}

	@Test
	void readsStatusHeadersAndBodyOfAnErrorResponse() {
		try (FakeProvider provider = FakeProvider.answering(429, "Retry-After: 2; retry-after-ms: 1200", SLOW_DOWN)) {
			assertThat(clients().values()).allSatisfy((client) -> {
				Throwable thrown = client.fail(provider.url());
				assertThat(thrown).isInstanceOf(WebClientResponseException.TooManyRequests.class);
				assertThat(Failures.judge(thrown)).isEqualTo("RATE_LIMITED after 1.2s");
				assertThat(Failures.classify(thrown, ProviderType.OPENAI).code()).isEqualTo("rate_limit_exceeded");
			});
		}
	}

	@ParameterizedTest
	@CsvSource({ "529, OVERLOADED after 3s", "599, SERVER_ERROR after 3s", "699, MISCONFIGURED after 3s" })
	void readsAStatusThatSpringDoesNotKnow(int status, String expected) {
		try (FakeProvider provider = FakeProvider.answering(status, "Retry-After: 3", "")) {
			Throwable thrown = catchThrowable(() -> callOverNetty(provider.url(), LONG));
			assertThat(thrown).isInstanceOf(UnknownHttpStatusCodeException.class);
			assertThat(Failures.judge(thrown)).isEqualTo(expected);
			assertThat(Failures.classify(thrown, ProviderType.ANTHROPIC).status()).isEqualTo(status);
		}
	}

	@Test
	void anErrorResponseIsFoundInReactorsWrappers() {
		try (FakeProvider provider = FakeProvider.answering(503, "Retry-After: 6", "")) {
			Mono<String> mono = WebClient.create(provider.url()).get().retrieve().bodyToMono(String.class);
			Throwable exhausted = catchThrowable(() -> mono.retryWhen(Retry.backoff(1, Duration.ofMillis(1))).block());
			assertThat(Exceptions.isRetryExhausted(exhausted)).isTrue();
			assertThat(Failures.judge(exhausted)).isEqualTo("OVERLOADED after 6s");
			assertThat(Failures.judge(catchThrowable(() -> mono.toFuture().get()))).isEqualTo("OVERLOADED after 6s");
			Throwable thrown = catchThrowable(mono::block);
			assertThat(Failures.judge(Exceptions.propagate(new ExecutionException(thrown))))
				.isEqualTo("OVERLOADED after 6s");
		}
	}

	@Test
	void reactorsOwnTimeoutsAreTimeouts() {
		try (FakeProvider provider = FakeProvider.silent()) {
			Mono<String> mono = WebClient.create(provider.url()).get().retrieve().bodyToMono(String.class);
			assertThat(Failures.judge(catchThrowable(() -> mono.timeout(SHORT).block()))).isEqualTo("TIMEOUT");
			assertThat(Failures.judge(catchThrowable(() -> mono.block(SHORT)))).isEqualTo("TIMEOUT");
		}
	}

	@Test
	void anInterruptedCallIsCancelled() {
		try (FakeProvider provider = FakeProvider.silent()) {
			Thread.currentThread().interrupt();
			Throwable thrown = catchThrowable(() -> callOverNetty(provider.url(), LONG));
			assertThat(Thread.interrupted()).isTrue();
			assertThat(thrown).hasCauseInstanceOf(InterruptedException.class);
			assertThat(Failures.judge(thrown)).isEqualTo("CANCELLED");
		}
	}

	@Test
	void anEmptyConnectionPoolIsNoFailureOfTheProvider() {
		ConnectionProvider pool = ConnectionProvider.builder("tiny")
			.maxConnections(1)
			.pendingAcquireMaxCount(1)
			.pendingAcquireTimeout(SHORT)
			.build();
		try (FakeProvider provider = FakeProvider.silent()) {
			WebClient client = client(
					new ReactorClientHttpConnector(reactor.netty.http.client.HttpClient.create(pool)));
			Mono<String> mono = client.get().uri(provider.url()).retrieve().bodyToMono(String.class);
			Disposable first = mono.subscribe((answer) -> {
			}, (failure) -> {
			});
			Throwable late = catchThrowable(mono::block);
			assertThat(late).isInstanceOf(WebClientRequestException.class);
			assertThat(Failures.judge(late)).isEqualTo("APPLICATION");
			Disposable waiting = mono.subscribe((answer) -> {
			}, (failure) -> {
			});
			assertThat(Failures.judge(catchThrowable(mono::block))).isEqualTo("APPLICATION");
			Disposables.composite(first, waiting).dispose();
		}
		finally {
			pool.dispose();
		}
	}

	@Test
	void whatAFilterThrowsIsTheCallersOwn() {
		WebClient client = WebClient.builder().filter((request, next) -> {
			throw new IllegalStateException();
		}).build();
		assertThat(Failures.judge(catchThrowable(() -> client.get().uri("/").retrieve().toBodilessEntity().block())))
			.isEqualTo("APPLICATION");
	}

	private static @Nullable Object callOverNetty(String url, Duration timeout) {
		SslProvider.GenericSslContextSpec<?> ssl = TcpSslContextSpec.forClient();
		reactor.netty.http.client.HttpClient client = reactor.netty.http.client.HttpClient
			.create(ConnectionProvider.newConnection())
			.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) timeout.toMillis())
			.responseTimeout(timeout)
			.secure((spec) -> spec.sslContext(ssl).handshakeTimeout(timeout));
		return call(new ReactorClientHttpConnector(client), url);
	}

	private static @Nullable Object call(ClientHttpConnector connector, String url) {
		return client(connector).post().uri(url).bodyValue("hello").retrieve().bodyToMono(Map.class).block();
	}

	private static WebClient client(ClientHttpConnector connector) {
		return WebClient.builder().clientConnector(connector).build();
	}

	private static JdkClientHttpConnector jdk(Duration timeout) {
		JdkClientHttpConnector connector = new JdkClientHttpConnector(
				HttpClient.newBuilder().connectTimeout(timeout).build());
		connector.setReadTimeout(timeout);
		return connector;
	}

}
