package dev.llmresilience.failure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;

/**
 * A provider on this machine that answers every request in the same way.
 */
public final class FakeProvider implements AutoCloseable {

	private final CountDownLatch asked = new CountDownLatch(1);

	private final CountDownLatch closed = new CountDownLatch(1);

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final HttpServer server;

	private FakeProvider() {
		try {
			this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.server.setExecutor(this.threads);
		this.server.start();
	}

	/**
	 * Starts a provider that answers.
	 * @param status the status
	 * @param headers such as {@code "Retry-After: 2; x-should-retry: false"}, or empty
	 * @param body the body
	 * @return the provider
	 */
	public static FakeProvider answering(int status, String headers, String body) {
		return answering(status, headers, body.getBytes(StandardCharsets.UTF_8));
	}

	/**
	 * Starts a provider that answers with bytes.
	 * @param status the status
	 * @param headers such as {@code "Retry-After: 2; x-should-retry: false"}, or empty
	 * @param bytes the body
	 * @return the provider
	 */
	static FakeProvider answering(int status, String headers, byte[] bytes) {
		return handling((exchange) -> {
			for (String header : headers.isEmpty() ? new String[0] : headers.split(";")) {
				int colon = header.indexOf(':');
				exchange.getResponseHeaders()
					.add(header.substring(0, colon).strip(), header.substring(colon + 1).strip());
			}
			send(exchange, status, bytes, bytes.length);
		});
	}

	/**
	 * Starts a provider that promises more than it sends.
	 * @param body the part of the body that it sends
	 * @return the provider
	 */
	static FakeProvider breakingOffAfter(String body) {
		byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
		return handling((exchange) -> send(exchange, 200, bytes, bytes.length + 1000));
	}

	/**
	 * Starts a provider that never answers.
	 * @return the provider
	 */
	static FakeProvider silent() {
		FakeProvider provider = new FakeProvider();
		provider.server.createContext("/", (exchange) -> {
			provider.asked.countDown();
			provider.awaitClose();
		});
		return provider;
	}

	/**
	 * Waits until a silent provider was asked something.
	 * @throws InterruptedException if interrupted
	 */
	void awaitRequest() throws InterruptedException {
		this.asked.await();
	}

	private static FakeProvider handling(HttpHandler handler) {
		FakeProvider provider = new FakeProvider();
		provider.server.createContext("/", handler);
		return provider;
	}

	private static void send(HttpExchange exchange, int status, byte[] bytes, int announced) throws IOException {
		exchange.getRequestBody().readAllBytes();
		exchange.getResponseHeaders().putIfAbsent("Content-Type", List.of("application/json"));
		exchange.sendResponseHeaders(status, (announced > 0) ? announced : -1);
		exchange.getResponseBody().write(bytes);
		exchange.close();
	}

	private void awaitClose() {
		try {
			this.closed.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Where the provider listens.
	 * @return the URL
	 */
	public String url() {
		return "http://localhost:" + this.server.getAddress().getPort();
	}

	@Override
	public void close() {
		this.closed.countDown();
		this.server.stop(0);
		this.threads.shutdownNow();
	}

	/**
	 * Returns an address where nobody listens.
	 * @return the URL
	 */
	static String refusingUrl() {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return "http://localhost:" + socket.getLocalPort();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A server that accepts connections, reads a little, and hangs up without a word.
	 */
	static final class HangingUp implements AutoCloseable {

		private final ServerSocket socket;

		private final Thread thread = new Thread(this::run);

		HangingUp() {
			try {
				this.socket = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			this.thread.start();
		}

		private void run() {
			while (!this.socket.isClosed()) {
				try (Socket connection = this.socket.accept()) {
					connection.getInputStream().read();
				}
				catch (IOException ex) {
					// The client is gone, or the test is over.
				}
			}
		}

		int port() {
			return this.socket.getLocalPort();
		}

		@Override
		public void close() throws IOException {
			this.socket.close();
		}

	}

}
