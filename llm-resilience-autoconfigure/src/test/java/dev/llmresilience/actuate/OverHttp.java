package dev.llmresilience.actuate;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

import com.jayway.jsonpath.DocumentContext;
import com.jayway.jsonpath.JsonPath;

import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Asks an application as an operator does: over HTTP.
 */
abstract class OverHttp {

	private final HttpClient client = HttpClient.newHttpClient();

	@LocalServerPort
	private int port;

	Answer get(String path) {
		return send(request(path).GET().build());
	}

	Answer post(String path, String body) {
		return send(
				request(path).header("Content-Type", "application/json").POST(BodyPublishers.ofString(body)).build());
	}

	DocumentContext json(String path) {
		Answer answer = get(path);
		assertThat(answer.status()).isEqualTo(200);
		return JsonPath.parse(answer.body());
	}

	private HttpRequest.Builder request(String path) {
		return HttpRequest.newBuilder(URI.create("http://localhost:" + this.port + path))
			.header("Accept", "application/json");
	}

	private Answer send(HttpRequest request) {
		try {
			HttpResponse<String> response = this.client.send(request, BodyHandlers.ofString());
			return new Answer(response.statusCode(), response.body());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	record Answer(int status, String body) {
	}

}
