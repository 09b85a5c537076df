package dev.llmresilience.sample.provider;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import dev.llmresilience.sample.provider.Dialect.ApiError;
import dev.llmresilience.sample.provider.Faults.Hit;
import dev.llmresilience.sample.provider.Buckets.Reading;
import org.jspecify.annotations.Nullable;

/**
 * Answers the chat requests of one account.
 */
final class ChatHandler implements HttpHandler {

	private final Account account;

	private final Dialect dialect;

	private final InstantSource clock;

	ChatHandler(Account account, InstantSource clock) {
		this.account = account;
		this.dialect = account.dialect();
		this.clock = clock;
	}

	@Override
	public void handle(HttpExchange exchange) throws IOException {
		try (exchange) {
			byte[] body = exchange.getRequestBody().readAllBytes();
			String id = UUID.randomUUID().toString().replace("-", "");
			exchange.getResponseHeaders().set(this.dialect.requestIdHeader(), "req_" + id);
			if (!exchange.getRequestURI().getPath().equals(this.dialect.path())) {
				send(exchange, this.dialect.error(404, "Not found"), id, null);
				return;
			}
			if (!exchange.getRequestMethod().equals("POST")) {
				send(exchange, this.dialect.error(405, "Method not allowed"), id, null);
				return;
			}
			ChatRequest request;
			try {
				request = ChatRequest.parse(body);
			}
			catch (IllegalArgumentException ex) {
				this.account.traffic().arrival();
				send(exchange, this.dialect.error(400, String.valueOf(ex.getMessage())), id, null);
				return;
			}
			if (request.isWarmUp()) {
				gather();
				answer(exchange, request, id);
				return;
			}
			this.account.traffic().arrival();
			meter(exchange, request, id);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void gather() throws InterruptedException {
		CountDownLatch others = this.account.warmUp();
		others.countDown();
		// Whoever announced more requests than came must not leave these hanging.
		boolean unused = others.await(5, TimeUnit.SECONDS);
	}

	private void meter(HttpExchange exchange, ChatRequest request, String id) throws IOException, InterruptedException {
		Hit hit = this.account.faults().next();
		int tokens = request.allTokens();
		Reading reading = (hit.fault().fault() == FaultKind.NONE) ? this.account.buckets().take(tokens)
				: this.account.buckets().peek(tokens);
		if (this.account.headers()) {
			this.dialect.rateLimitHeaders(reading, this.clock.instant()).forEach(exchange.getResponseHeaders()::set);
		}
		if (hit.fault().fault() != FaultKind.NONE) {
			fail(exchange, request, id, hit, reading);
		}
		else if (!reading.taken()) {
			send(exchange, this.dialect.rateLimited(reading), id, reading.retryAfterSeconds());
		}
		else {
			// The provider is a server of its own, and takes its time in real time.
			TimeUnit.MILLISECONDS.sleep(this.account.limits().latency());
			this.account.traffic().answer(200);
			answer(exchange, request, id);
		}
	}

	private void fail(HttpExchange exchange, ChatRequest request, String id, Hit hit, Reading reading)
			throws IOException, InterruptedException {
		Fault fault = hit.fault();
		Long retryAfter = (fault.retryAfterSeconds() != null) ? fault.retryAfterSeconds().longValue() : null;
		switch (fault.fault()) {
			case RATE_LIMITED -> send(exchange, this.dialect.rateLimited(reading), id,
					(retryAfter != null) ? retryAfter : reading.retryAfterSeconds());
			case OVERLOADED -> send(exchange, this.dialect.overloaded(), id, retryAfter);
			case SERVER_ERROR -> send(exchange, this.dialect.error(500, "Internal server error"), id, retryAfter);
			case SPEND_CAP -> send(exchange, this.dialect.spendCap(), id, retryAfter);
			case STATUS -> send(exchange,
					this.dialect.error((fault.status() != null) ? fault.status() : 500, "Switched on by request"), id,
					retryAfter);
			case HANG -> hit.released().await();
			case MALFORMED -> {
				String answer = this.dialect.answer(request, id, this.clock.instant());
				sendJson(exchange, 200, answer.substring(0, answer.length() / 2));
			}
			case RESET, NONE -> {
				// Nothing is written: closing the exchange closes the connection.
			}
		}
	}

	private void answer(HttpExchange exchange, ChatRequest request, String id) throws IOException {
		Instant now = this.clock.instant();
		if (!request.stream()) {
			sendJson(exchange, 200, this.dialect.answer(request, id, now));
			return;
		}
		exchange.getResponseHeaders().set("Content-Type", "text/event-stream; charset=utf-8");
		exchange.getResponseHeaders().set("Cache-Control", "no-cache");
		exchange.sendResponseHeaders(200, 0);
		try (OutputStream out = exchange.getResponseBody()) {
			for (String event : this.dialect.events(request, id, now)) {
				out.write(event.getBytes(StandardCharsets.UTF_8));
				out.flush();
			}
		}
	}

	private void send(HttpExchange exchange, ApiError error, String id, @Nullable Long retryAfter) throws IOException {
		if (retryAfter != null) {
			exchange.getResponseHeaders().set("Retry-After", retryAfter.toString());
		}
		this.account.traffic().answer(error.status());
		sendJson(exchange, error.status(), this.dialect.errorBody(error, id));
	}

	private static void sendJson(HttpExchange exchange, int status, String json) throws IOException {
		byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
		exchange.getResponseHeaders().set("Content-Type", "application/json");
		exchange.sendResponseHeaders(status, bytes.length);
		exchange.getResponseBody().write(bytes);
	}

}
