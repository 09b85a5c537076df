package dev.llmresilience.failure;

import java.io.CharConversionException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.ObjectStreamException;
import java.io.UnsupportedEncodingException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.MalformedURLException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.FileSystemException;
import java.security.InvalidAlgorithmParameterException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;

import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;

import dev.llmresilience.failure.FailureFacts.Transport;
import org.jspecify.annotations.Nullable;

/**
 * Reads the JDK's own exceptions, which every client has at the end of its cause chains.
 * An {@link IOException} means a broken connection unless its type says that it is about
 * something local.
 */
final class JdkReader implements FailureReader {

	private static final List<Class<? extends Throwable>> CERTIFICATE = List.of(SSLPeerUnverifiedException.class,
			CertificateException.class, CertPathValidatorException.class, CertPathBuilderException.class,
			InvalidAlgorithmParameterException.class);

	// The JDK's HttpClient reports an unknown host as a ConnectException with an
	// UnresolvedAddressException at its end.
	private static final List<Class<? extends Throwable>> UNKNOWN_HOST = List.of(UnknownHostException.class,
			UnresolvedAddressException.class);

	private static final List<Class<? extends Throwable>> NOT_CONNECTED = List.of(ConnectException.class,
			HttpConnectTimeoutException.class, NoRouteToHostException.class, BindException.class,
			SSLHandshakeException.class);

	private static final List<Class<? extends Throwable>> TIMED_OUT = List.of(HttpTimeoutException.class,
			SocketTimeoutException.class, TimeoutException.class);

	// Parsers' exceptions that are IOExceptions, but about what was read; some clients
	// bring Jackson under another name.
	private static final List<String> PARSERS = List.of(".jackson.", "com.google.gson.", "com.squareup.moshi.");

	private static final List<Class<? extends Throwable>> LOCAL = List.of(FileSystemException.class,
			FileNotFoundException.class, CharacterCodingException.class, CharConversionException.class,
			MalformedURLException.class, ObjectStreamException.class, UnsupportedEncodingException.class);

	@Override
	public @Nullable Transport read(Throwable thrown) {
		String message = (thrown.getMessage() != null) ? thrown.getMessage().toLowerCase(Locale.ROOT) : "";
		if (isAny(thrown, CERTIFICATE) || (thrown instanceof SSLHandshakeException && blamesCertificate(message))) {
			return Transport.CERTIFICATE;
		}
		if (isAny(thrown, UNKNOWN_HOST)) {
			return Transport.UNKNOWN_HOST;
		}
		// OkHttp's dispatcher was shut down; or a pool of connections or threads is full.
		if (thrown instanceof RejectedExecutionException || (thrown instanceof InterruptedIOException
				&& message.startsWith("timeout waiting for connection from pool"))) {
			return Transport.NOT_STARTED;
		}
		if (isAny(thrown, NOT_CONNECTED) || (thrown instanceof InterruptedIOException && blamesConnect(message))
				|| (thrown instanceof IOException && happenedInHandshake(thrown))) {
			return Transport.NOT_CONNECTED;
		}
		if (isAny(thrown, TIMED_OUT)) {
			return Transport.TIMED_OUT;
		}
		if (!(thrown instanceof IOException) || isLocal(thrown)) {
			return null;
		}
		if (tellsOfCancellation(message)) {
			return Transport.CANCELLED;
		}
		return (thrown instanceof InterruptedIOException) ? Transport.TIMED_OUT : Transport.BROKEN;
	}

	// The peer's TLS alerts about our own certificate are named after it, but for one.
	private static boolean blamesCertificate(String message) {
		return message.contains("certificate") || message.contains("unknown_ca");
	}

	// OkHttp says "failed to connect to ... after 100ms". Apache HttpClient 4's time-out
	// is no SocketTimeoutException.
	private static boolean blamesConnect(String message) {
		return message.contains("connect timed out") || message.contains("failed to connect");
	}

	// A time-out of the TLS handshake is a SocketTimeoutException like any other, but
	// what happens within a handshake happens before the request is sent.
	private static boolean happenedInHandshake(Throwable thrown) {
		for (StackTraceElement frame : thrown.getStackTrace()) {
			if (frame.getMethodName().equals("startHandshake")
					&& frame.getClassName().startsWith("sun.security.ssl.")) {
				return true;
			}
		}
		return false;
	}

	// The words of OkHttp and Okio, Spring's JDK request factory, and the JDK's sockets
	// on virtual threads; there is no type for it.
	private static boolean tellsOfCancellation(String message) {
		return switch (message) {
			case "canceled", "interrupted", "request cancelled", "closed by interrupt" -> true;
			default -> false;
		};
	}

	private static boolean isLocal(Throwable thrown) {
		String name = thrown.getClass().getName();
		return isAny(thrown, LOCAL) || PARSERS.stream().anyMatch(name::contains);
	}

	private static boolean isAny(Throwable thrown, List<Class<? extends Throwable>> types) {
		return types.stream().anyMatch((type) -> type.isInstance(thrown));
	}

}
