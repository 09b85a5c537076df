package dev.llmresilience.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A server on this machine that takes its time.
 */
abstract class SlowServer implements AutoCloseable {

	/** What makes sense to the clients of either API. */
	private static final byte[] ANSWER = """
			{"id":"x","model":"x","type":"message","role":"assistant","stop_reason":"end_turn",
			 "content":[{"type":"text","text":"answer"}],"usage":{"input_tokens":1,"output_tokens":1},
			 "choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"answer"}}]}
			""".getBytes(UTF_8);

	/**
	 * Starts a server that accepts connections and never answers.
	 * @return the server
	 */
	static Silent silent() {
		return new Silent();
	}

	/**
	 * Starts a server that answers every request.
	 * @param latency how long after it has come
	 * @return the server
	 */
	static SlowServer answeringAfter(Duration latency) {
		return new Answering(latency);
	}

	abstract int port();

	String url() {
		return "http://localhost:" + port();
	}

	@Override
	public abstract void close();

	static final class Silent extends SlowServer {

		private final ServerSocket server;

		private final List<Socket> connections = new CopyOnWriteArrayList<>();

		Silent() {
			try {
				this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			Thread thread = new Thread(this::accept, "silent-server");
			thread.setDaemon(true);
			thread.start();
		}

		private void accept() {
			try {
				while (!this.server.isClosed()) {
					this.connections.add(this.server.accept());
				}
			}
			catch (IOException ex) {
				// The test is over.
			}
		}

		/** How many have been accepted. */
		int connections() {
			return this.connections.size();
		}

		@Override
		int port() {
			return this.server.getLocalPort();
		}

		@Override
		public void close() {
			try {
				this.server.close();
				for (Socket connection : new ArrayList<>(this.connections)) {
					connection.close();
				}
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

	private static final class Answering extends SlowServer {

		private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);

		private final HttpServer server;

		Answering(Duration latency) {
			try {
				this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			this.server.setExecutor(this.timer);
			this.server.createContext("/", (exchange) -> {
				exchange.getRequestBody().readAllBytes();
				Future<?> unused = this.timer.schedule(() -> answer(exchange), latency.toNanos(), TimeUnit.NANOSECONDS);
			});
			this.server.start();
		}

		private static void answer(HttpExchange exchange) {
			try {
				exchange.getResponseHeaders().add("Content-Type", "application/json");
				exchange.sendResponseHeaders(200, ANSWER.length);
				exchange.getResponseBody().write(ANSWER);
				exchange.close();
			}
			catch (IOException ex) {
				// The client has gone away.
				exchange.close();
			}
		}

		@Override
		int port() {
			return this.server.getAddress().getPort();
		}

		@Override
		public void close() {
			this.server.stop(0);
			this.timer.shutdownNow();
		}

	}

}
