package dev.llmresilience.failure;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;

import com.google.gson.stream.MalformedJsonException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Tests for {@link JdkReader} with the exceptions of the JDK's own client. Others are
 * tested by {@link DefaultFailureClassifierTests}.
 */
class JdkReaderTests extends ClientContract {

	@Override
	Map<String, Client> clients() {
		return Map.of("send", (url, timeout) -> client(timeout).send(request(url, timeout), body()), "get",
				(url, timeout) -> client(timeout).sendAsync(request(url, timeout), body()).get(), "join",
				(url, timeout) -> client(timeout).sendAsync(request(url, timeout), body()).join());
	}

	@Override
	Map<String, String> differences() {
		return Map.of("send NO_JSON", "no failure", "get NO_JSON", "no failure", "join NO_JSON", "no failure");
	}

	@Test
	void anInterruptedCallIsCancelled() {
		try (FakeProvider provider = FakeProvider.silent()) {
			for (String name : new String[] { "send", "get" }) {
				Client client = clients().getOrDefault(name, (url, timeout) -> null);
				Thread.currentThread().interrupt();
				Throwable thrown = client.fail(provider.url());
				assertThat(thrown).isInstanceOf(InterruptedException.class);
				assertThat(Failures.judge(thrown)).isEqualTo("CANCELLED");
			}
		}
	}

	@Test
	void aCancelledFutureIsCancelled() {
		try (FakeProvider provider = FakeProvider.silent()) {
			CompletableFuture<?> future = client(LONG).sendAsync(request(provider.url(), LONG), body());
			CompletableFuture<?> derived = future.thenApply(Object::toString);
			future.cancel(true);
			assertThat(Failures.judge(catchThrowable(future::join))).isEqualTo("CANCELLED");
			assertThat(Failures.judge(catchThrowable(derived::join))).isEqualTo("CANCELLED");
			assertThat(Failures.judge(catchThrowable(derived::get))).isEqualTo("CANCELLED");
		}
	}

	static Stream<Arguments> foreignExceptions() {
		return Stream.of(
				// A dispatcher of OkHttp that was shut down.
				arguments(caused(new InterruptedIOException("executor rejected"), new RejectedExecutionException()),
						"APPLICATION"),
				// Apache HttpClient 4.
				arguments(new InterruptedIOException("Timeout waiting for connection from pool"), "APPLICATION"),
				arguments(new InterruptedIOException("Connect to x:443 [x/10.0.0.1] failed: connect timed out"),
						"CONNECTION unsent"),
				arguments(new MalformedJsonException("x"), "APPLICATION"),
				arguments(new software.amazon.awssdk.thirdparty.jackson.core.JsonParseException(null, "x"),
						"APPLICATION"));
	}

	@ParameterizedTest
	@MethodSource("foreignExceptions")
	void tellsWhatIsLocalAmongOtherLibrariesIoExceptions(Throwable thrown, String expected) {
		assertThat(Failures.judge(thrown)).isEqualTo(expected);
	}

	private static IOException caused(IOException thrown, Throwable cause) {
		thrown.initCause(cause);
		return thrown;
	}

	private static HttpClient client(Duration timeout) {
		return HttpClient.newBuilder().connectTimeout(timeout).build();
	}

	private static HttpRequest request(String url, Duration timeout) {
		return HttpRequest.newBuilder(URI.create(url))
			.timeout(timeout)
			.POST(HttpRequest.BodyPublishers.ofString("hello"))
			.build();
	}

	private static HttpResponse.BodyHandler<String> body() {
		return HttpResponse.BodyHandlers.ofString();
	}

}
