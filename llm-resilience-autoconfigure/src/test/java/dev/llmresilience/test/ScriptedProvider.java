package dev.llmresilience.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A provider on this machine that answers one request after the other as it was told to,
 * and remembers what it was sent.
 */
public final class ScriptedProvider implements AutoCloseable {

	private final List<Answer> script;

	private final List<Headers> requests = new CopyOnWriteArrayList<>();

	private final HttpServer server;

	private ScriptedProvider(List<Answer> script) {
		this.script = script;
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
	 * Starts a provider.
	 * @param script its answers in order; the last one is given again and again
	 * @return the provider
	 */
	public static ScriptedProvider answering(Answer... script) {
		return new ScriptedProvider(List.of(script));
	}

	/**
	 * An answer.
	 * @param status the HTTP status
	 * @param body a JSON body
	 * @return the answer
	 */
	public static Answer answer(int status, String body) {
		return new Answer(status, body);
	}

	private void answer(HttpExchange exchange) throws IOException {
		exchange.getRequestBody().readAllBytes();
		this.requests.add(exchange.getRequestHeaders());
		Answer answer = this.script.get(Math.min(this.requests.size(), this.script.size()) - 1);
		byte[] body = answer.body().getBytes(UTF_8);
		exchange.getResponseHeaders().set("Content-Type", "application/json");
		if (answer.status() >= 400) {
			// So that nobody who retries makes a test wait.
			exchange.getResponseHeaders().set("retry-after-ms", "1");
		}
		exchange.sendResponseHeaders(answer.status(), body.length);
		exchange.getResponseBody().write(body);
		exchange.close();
	}

	/**
	 * Where the provider listens.
	 * @return the URL
	 */
	public String url() {
		return "http://localhost:" + this.server.getAddress().getPort();
	}

	/**
	 * How many requests it was sent.
	 * @return the number
	 */
	public int requests() {
		return this.requests.size();
	}

	/**
	 * What the requests carried in a header.
	 * @param header its name
	 * @return the values of each request, the first one first
	 */
	public List<List<String>> sent(String header) {
		return this.requests.stream().map((headers) -> headers.getOrDefault(header, List.of())).toList();
	}

	@Override
	public void close() {
		this.server.stop(0);
	}

	/**
	 * An answer of the script.
	 *
	 * @param status the HTTP status
	 * @param body a JSON body
	 */
	public record Answer(int status, String body) {
	}

}
