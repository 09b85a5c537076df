package dev.llmresilience.failure;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

/**
 * What every client library must make of a provider that gives no proper answer.
 */
abstract class ClientContract {

	static final Duration SHORT = Duration.ofMillis(200);

	static final Duration LONG = Duration.ofSeconds(20);

	/**
	 * Returns the clients to test, by name.
	 * @return the clients
	 */
	abstract Map<String, Client> clients();

	/**
	 * Returns what this library cannot tell as well as others.
	 * @return the descriptions that differ from the usual ones, by client and trouble,
	 * such as {@code "JDK REFUSED"}
	 */
	Map<String, String> differences() {
		return Map.of();
	}

	/**
	 * What becomes of an answer that breaks off where {@code HttpURLConnection} reads it:
	 * it used to take the part for the whole, and does not on Java 25.
	 * @param before what became of it
	 * @return what becomes of it here
	 */
	static String brokenOff(String before) {
		return (Runtime.version().feature() >= 25) ? "CONNECTION" : before;
	}

	@TestFactory
	Stream<DynamicTest> tellsTransportFailuresApart(@TempDir Path directory) {
		return clients().entrySet()
			.stream()
			.flatMap((client) -> Stream.of(Trouble.values())
				.map((trouble) -> test(client.getKey() + " " + trouble, client.getValue(), trouble, directory)));
	}

	private DynamicTest test(String name, Client client, Trouble trouble, Path directory) {
		String expected = differences().getOrDefault(name, trouble.expected);
		return dynamicTest(name + " -> " + expected,
				() -> assertThat(trouble.with(client, directory)).isEqualTo(expected));
	}

	/**
	 * A client library, set up for one call without retries of its own.
	 */
	@FunctionalInterface
	interface Client {

		/**
		 * Posts something.
		 * @param url where to
		 * @param timeout the limit for connecting and for the answer, each
		 * @return what was answered
		 * @throws Exception what the client throws
		 */
		@Nullable Object call(String url, Duration timeout) throws Exception;

		/**
		 * Calls in vain.
		 * @param url where to
		 * @return what the client threw
		 */
		default Throwable fail(String url) {
			return catchThrowable(() -> call(url, LONG));
		}

	}

	/**
	 * What can happen to a request, and what a failure of it usually is.
	 */
	enum Trouble {

		REFUSED("CONNECTION unsent") {
			@Override
			String with(Client client, Path directory) {
				return call(client, FakeProvider.refusingUrl(), LONG);
			}
		},

		UNKNOWN_HOST("CONNECTION unsent retries<=1") {
			@Override
			String with(Client client, Path directory) {
				return call(client, "http://host.invalid", LONG);
			}
		},

		CONNECT_TIMEOUT("CONNECTION unsent") {
			@Override
			String with(Client client, Path directory) throws Exception {
				try (FullBacklog server = new FullBacklog()) {
					return call(client, "http://localhost:" + server.port(), SHORT);
				}
			}
		},

		SILENT_IN_HANDSHAKE("CONNECTION unsent") {
			@Override
			String with(Client client, Path directory) throws Exception {
				try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
					return call(client, "https://localhost:" + server.getLocalPort(), SHORT);
				}
			}
		},

		HANGS_UP_IN_HANDSHAKE("CONNECTION unsent") {
			@Override
			String with(Client client, Path directory) throws Exception {
				try (FakeProvider.HangingUp server = new FakeProvider.HangingUp()) {
					return call(client, "https://localhost:" + server.port(), LONG);
				}
			}
		},

		UNTRUSTED("MISCONFIGURED") {
			@Override
			String with(Client client, Path directory) throws Exception {
				try (SelfSignedServer server = new SelfSignedServer(Files.createTempDirectory(directory, "server"))) {
					return call(client, server.url(), LONG);
				}
			}
		},

		SILENT("TIMEOUT") {
			@Override
			String with(Client client, Path directory) {
				try (FakeProvider provider = FakeProvider.silent()) {
					return call(client, provider.url(), SHORT);
				}
			}
		},

		HANGS_UP("CONNECTION") {
			@Override
			String with(Client client, Path directory) throws Exception {
				try (FakeProvider.HangingUp server = new FakeProvider.HangingUp()) {
					return call(client, "http://localhost:" + server.port(), LONG);
				}
			}
		},

		BREAKS_OFF("CONNECTION") {
			@Override
			String with(Client client, Path directory) {
				try (FakeProvider provider = FakeProvider.breakingOffAfter("{\"a\":\"")) {
					return call(client, provider.url(), LONG);
				}
			}
		},

		NO_JSON("APPLICATION") {
			@Override
			String with(Client client, Path directory) {
				try (FakeProvider provider = FakeProvider.answering(200, "", "this is no JSON")) {
					return call(client, provider.url(), LONG);
				}
			}
		};

		private final String expected;

		Trouble(String expected) {
			this.expected = expected;
		}

		abstract String with(Client client, Path directory) throws Exception;

		private static String call(Client client, String url, Duration timeout) {
			Throwable thrown = catchThrowable(() -> client.call(url, timeout));
			return (thrown != null) ? Failures.judge(thrown) : "no failure";
		}

	}

}
