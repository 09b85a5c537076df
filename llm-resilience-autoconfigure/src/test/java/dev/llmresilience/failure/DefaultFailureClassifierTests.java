package dev.llmresilience.failure;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.MalformedURLException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.NoSuchFileException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClientException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Tests for {@link DefaultFailureClassifier}: cause chains, the JDK's exceptions,
 * cancellation, and what others say first.
 */
class DefaultFailureClassifierTests {

	private static final FailureContext CONTEXT = new FailureContext(ProviderType.GENERIC, Failures.NOW, false);

	static Stream<Arguments> transportFailures() {
		return Stream.of(arguments(new ConnectException("Connection refused"), "CONNECTION unsent"),
				arguments(new NoRouteToHostException("No route to host"), "CONNECTION unsent"),
				arguments(new BindException("Cannot assign requested address"), "CONNECTION unsent"),
				arguments(new HttpConnectTimeoutException("HTTP connect timed out"), "CONNECTION unsent"),
				arguments(new SocketTimeoutException("Connect timed out"), "CONNECTION unsent"),
				arguments(new SocketTimeoutException("failed to connect to x/10.0.0.1 (port 443) after 100ms"),
						"CONNECTION unsent"),
				arguments(new SSLHandshakeException("Remote host terminated the handshake"), "CONNECTION unsent"),
				arguments(caused(new SSLHandshakeException("Read timed out"),
						new SocketTimeoutException("Read timed out")), "CONNECTION unsent"),
				arguments(new UnknownHostException("x"), "CONNECTION unsent retries<=1"),
				arguments(new UnresolvedAddressException(), "CONNECTION unsent retries<=1"),
				arguments(
						caused(new ConnectException(),
								caused(new ConnectException(), new UnresolvedAddressException())),
						"CONNECTION unsent retries<=1"),
				arguments(new HttpTimeoutException("request timed out"), "TIMEOUT"),
				arguments(new SocketTimeoutException("Read timed out"), "TIMEOUT"),
				arguments(new SocketTimeoutException(), "TIMEOUT"), arguments(new TimeoutException(), "TIMEOUT"),
				arguments(new InterruptedIOException("timeout"), "TIMEOUT"),
				arguments(caused(new InterruptedIOException("timeout"), new IOException("Canceled")), "TIMEOUT"),
				arguments(new SSLException("Read timed out", new SocketTimeoutException("Read timed out")), "TIMEOUT"),
				arguments(new SocketException("Connection reset"), "CONNECTION"),
				arguments(new SocketException("Broken pipe"), "CONNECTION"),
				arguments(new ClosedChannelException(), "CONNECTION"),
				arguments(new EOFException("\n not found: limit=0 content=..."), "CONNECTION"),
				arguments(new IOException("unexpected end of stream"), "CONNECTION"),
				arguments(new IOException("HTTP/1.1 header parser received no bytes"), "CONNECTION"),
				arguments(new IOException((String) null), "CONNECTION"),
				arguments(new SSLException("Connection reset"), "CONNECTION"),
				arguments(caused(new SSLHandshakeException("PKIX path validation failed"),
						new CertPathValidatorException("expired")), "MISCONFIGURED"),
				arguments(caused(new SSLHandshakeException("No name matching x found"),
						new CertificateException("No name matching x found")), "MISCONFIGURED"),
				arguments(new SSLHandshakeException("Received fatal alert: certificate_expired"), "MISCONFIGURED"),
				arguments(new SSLPeerUnverifiedException("Hostname x not verified"), "MISCONFIGURED"));
	}

	@ParameterizedTest
	@MethodSource("transportFailures")
	void tellsTransportFailuresApart(Throwable thrown, String expected) {
		assertThat(Failures.judge(thrown)).isEqualTo(expected);
	}

	@ParameterizedTest
	@MethodSource("transportFailures")
	void tellsThemApartInAnyWrapper(Throwable thrown, String expected) {
		for (Throwable wrapped : wrappers(thrown)) {
			assertThat(Failures.judge(wrapped)).isEqualTo(expected);
		}
	}

	static Stream<Arguments> callersOwnFailures() {
		return Stream.of(arguments(new NullPointerException()), arguments(new IllegalStateException("x")),
				arguments(new IllegalArgumentException("timeout value is negative")),
				arguments(new RuntimeException("Connection error.")),
				arguments(new CompletionException((Throwable) null)), arguments(new CompletionException("x", null)),
				arguments(new RestClientException("Error while extracting response")),
				arguments(new FileNotFoundException("prompt.txt")), arguments(new NoSuchFileException("prompt.txt")),
				arguments(new MalformedURLException("no protocol")),
				arguments(new com.fasterxml.jackson.core.JsonParseException(null, "x")),
				arguments(new tools.jackson.core.exc.StreamReadException(null, "x")));
	}

	@ParameterizedTest
	@MethodSource("callersOwnFailures")
	void whatNobodyKnowsIsTheCallersOwn(Throwable thrown) {
		assertThat(Failures.judge(thrown)).isEqualTo("APPLICATION");
	}

	static Stream<Error> errors() {
		return Stream.of(new OutOfMemoryError(), new StackOverflowError(),
				new AssertionError("x", new SocketException()));
	}

	@ParameterizedTest
	@MethodSource("errors")
	void anErrorIsTheCallersOwnHoweverWrapped(Error error) {
		assertThat(Failures.judge(error)).isEqualTo("APPLICATION");
		assertThat(Failures.judge(new ExecutionException(error))).isEqualTo("APPLICATION");
		assertThat(Failures.judge(new IOException("wrapped", error))).isEqualTo("APPLICATION");
	}

	@Test
	void aStatusIsFoundInAnyWrapper() {
		for (Throwable wrapped : wrappers(Failures.response(503, null, null))) {
			assertThat(Failures.judge(wrapped)).isEqualTo("OVERLOADED");
		}
		assertThat(Failures.judge(new ExecutionException(Failures.response(400, null, null))))
			.isEqualTo("INVALID_REQUEST");
	}

	@Test
	void theOutermostStatusCounts() {
		Throwable inner = Failures.response(400, null, null);
		assertThat(Failures.judge(caused(Failures.response(503, null, null), inner))).isEqualTo("OVERLOADED");
	}

	@Test
	void aStatusBeatsAConnectionFailureAroundIt() {
		assertThat(Failures.judge(new IOException("stream failed", Failures.response(400, null, null))))
			.isEqualTo("INVALID_REQUEST");
	}

	@Test
	void aConnectionFailureIsJudgedByItsMostTellingCause() {
		assertThat(Failures.judge(new ResourceAccessException("I/O error", new ConnectException())))
			.isEqualTo("CONNECTION unsent");
		assertThat(Failures.judge(new ResourceAccessException("I/O error"))).isEqualTo("CONNECTION");
	}

	static Stream<Arguments> cancellations() {
		return Stream.of(arguments(new InterruptedException()), arguments(new CancellationException()),
				arguments(new ClosedByInterruptException()),
				arguments(new IOException("Request was interrupted", new InterruptedException())),
				arguments(new InterruptedIOException("interrupted")), arguments(new IOException("Canceled")),
				arguments(new SocketException("Closed by interrupt")),
				arguments(new CompletionException(new CancellationException())),
				arguments(caused(Failures.response(503, null, null), new InterruptedException())),
				arguments(new AssertionError("x", new InterruptedException())),
				arguments(caused(new HttpTimeoutException("request timed out"), new InterruptedException())));
	}

	@ParameterizedTest
	@MethodSource("cancellations")
	void aCancelledCallIsToldByItsCauseChain(Throwable thrown) {
		assertThat(Failures.judge(thrown)).isEqualTo("CANCELLED");
		assertThat(Failures.judge(new RuntimeException(thrown))).isEqualTo("CANCELLED");
	}

	@Test
	void aTimeoutThatCancelsItsOwnExchangeIsATimeout() {
		assertThat(Failures.judge(caused(new HttpTimeoutException("request timed out"), new CancellationException())))
			.isEqualTo("TIMEOUT");
	}

	@Test
	void anInterruptedCallerBeatsAll() {
		FailureContext interrupted = new FailureContext(ProviderType.GENERIC, Failures.NOW, true);
		DefaultFailureClassifier classifier = new DefaultFailureClassifier(
				List.of((thrown, context) -> LlmFailure.of(FailureKind.SERVER_ERROR)));
		for (Throwable thrown : List.of(Failures.response(503, "x-should-retry: true", null),
				new SocketException("Connection reset"), new NullPointerException())) {
			assertThat(classifier.classify(thrown, interrupted).kind()).isEqualTo(FailureKind.CANCELLED);
		}
	}

	@Test
	void othersAreAskedFirst() {
		DefaultFailureClassifier classifier = new DefaultFailureClassifier(
				List.of((thrown, context) -> null, (thrown, context) -> LlmFailure.of(FailureKind.OVERLOADED),
						(thrown, context) -> LlmFailure.of(FailureKind.CONFLICT)));
		assertThat(classifier.classify(new NullPointerException(), CONTEXT).kind()).isEqualTo(FailureKind.OVERLOADED);
	}

	@Test
	void oneOfTheOthersThatThrowsIsPassedOver() {
		DefaultFailureClassifier classifier = new DefaultFailureClassifier(List.of((thrown, context) -> {
			throw new IllegalStateException();
		}));
		assertThat(classifier.classify(new ConnectException(), CONTEXT).kind()).isEqualTo(FailureKind.CONNECTION);
	}

	@Test
	void aCycleOfCausesEnds() {
		RuntimeException first = new RuntimeException();
		RuntimeException second = new RuntimeException(first);
		first.initCause(second);
		assertThat(Failures.judge(first)).isEqualTo("APPLICATION");
	}

	@Test
	void anEndlessChainOfCausesEnds() {
		class Endless extends RuntimeException {

			private static final long serialVersionUID = 1;

			@Override
			public synchronized Throwable getCause() {
				return new Endless();
			}

		}
		assertThat(Failures.judge(new Endless())).isEqualTo("APPLICATION");
	}

	@Test
	void anExceptionThatCannotBeReadIsTheCallersOwn() {
		class Unreadable extends IOException {

			private static final long serialVersionUID = 1;

			@Override
			public String getMessage() {
				throw new IllegalStateException();
			}

		}
		assertThat(Failures.judge(new Unreadable())).isEqualTo("APPLICATION");
	}

	@Test
	void anExceptionOfALibraryThatLacksAMethodIsTheCallersOwnUnlessItsCauseTellsMore() {
		class Outdated extends IOException {

			private static final long serialVersionUID = 1;

			@Override
			public String getMessage() {
				throw new NoSuchMethodError();
			}

		}
		assertThat(Failures.judge(new Outdated())).isEqualTo("APPLICATION");
		assertThat(Failures.judge(caused(new Outdated(), new ConnectException()))).isEqualTo("CONNECTION unsent");
	}

	@Test
	void theStatusIsKept() {
		assertThat(Failures.classify(Failures.response(529, null, null), ProviderType.GENERIC).status()).isEqualTo(529);
		assertThat(Failures.classify(new ConnectException(), ProviderType.GENERIC).status()).isZero();
	}

	private static List<Throwable> wrappers(Throwable thrown) {
		Exception exception = (Exception) thrown;
		return List.of(new RuntimeException(exception), new CompletionException(exception),
				new ExecutionException(exception), new UndeclaredThrowableException(exception),
				new InvocationTargetException(exception),
				new IllegalStateException(new CompletionException(new RuntimeException(exception))),
				(exception instanceof IOException io) ? new UncheckedIOException(io) : new RuntimeException(exception));
	}

	private static <T extends Throwable> T caused(T thrown, Throwable cause) {
		thrown.initCause(cause);
		return thrown;
	}

}
