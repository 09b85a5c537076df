package dev.llmresilience.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Answers one request after the other as it was told to.
 */
final class ProviderOnThisMachine implements AutoCloseable {

	private final HttpServer server;

	private final AtomicInteger requests = new AtomicInteger();

	private volatile List<Reply> script;

	ProviderOnThisMachine(Reply... script) {
		this.script = List.of(script);
		try {
			this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.server.createContext("/", this::answer);
		this.server.start();
	}

	/**
	 * Begins a new script, and to count.
	 * @param script the answers in order; the last one is given again and again
	 */
	void answers(Reply... script) {
		this.script = List.of(script);
		this.requests.set(0);
	}

	private void answer(HttpExchange exchange) throws IOException {
		exchange.getRequestBody().readAllBytes();
		List<Reply> replies = this.script;
		Reply reply = replies.get(Math.min(this.requests.getAndIncrement(), replies.size() - 1));
		byte[] body = reply.body().getBytes(UTF_8);
		exchange.getResponseHeaders().set("Content-Type", "application/json");
		reply.headers().forEach(exchange.getResponseHeaders()::set);
		exchange.sendResponseHeaders(reply.status(), body.length);
		exchange.getResponseBody().write(body);
		exchange.close();
	}

	String url() {
		return "http://localhost:" + this.server.getAddress().getPort();
	}

	int requests() {
		return this.requests.get();
	}

	@Override
	public void close() {
		this.server.stop(0);
	}

	record Reply(int status, Map<String, String> headers, String body) {

		Reply with(String header, String value) {
			return new Reply(this.status, Map.of(header, value), this.body);
		}

	}

}
