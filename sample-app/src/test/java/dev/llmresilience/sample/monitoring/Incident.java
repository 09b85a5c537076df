package dev.llmresilience.sample.monitoring;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A bad day of the embedded provider, played over HTTP as an operator would: with curl.
 * Scrapes are taken in between.
 */
final class Incident {

	private final JsonMapper json = new JsonMapper();

	private final RestClient http;

	private final Map<String, Scrape> scrapes = new LinkedHashMap<>();

	Incident(int port) {
		this.http = RestClient.create("http://localhost:" + port);
	}

	/**
	 * Plays it.
	 * @return the scrapes by the name of what had just happened
	 */
	Map<String, Scrape> play() {
		assertThat(ask("/ask")).isEqualTo(200);
		burstOfRejections();
		smallTroubles();
		outage();
		spendCap();
		return this.scrapes;
	}

	/** Four of twelve are told to slow down; the limiter paces their retries. */
	private void burstOfRejections() {
		fault("{\"fault\":\"rate-limited\",\"count\":4,\"retryAfterSeconds\":0}");
		JsonNode result = read(exchange(HttpMethod.POST, "/burst?provider=anthropic&calls=12", ""));
		assertThat(result.path("answered").asInt()).isEqualTo(12);
		scrape("burst");
	}

	/** What passes by itself, and what is our own fault. */
	private void smallTroubles() {
		fault("{\"fault\":\"server-error\",\"count\":1}");
		assertThat(ask("/ask")).isEqualTo(200);
		fault("{\"fault\":\"overloaded\",\"count\":1,\"retryAfterSeconds\":1}");
		assertThat(ask("/ask")).isEqualTo(200);
		fault("{\"fault\":\"status\",\"status\":400,\"count\":1}");
		assertThat(ask("/ask")).isEqualTo(400);
		scrape("troubles");
	}

	/** Until the breaker opens; then one trial call finds out that it is over. */
	private void outage() {
		fault("{\"fault\":\"overloaded\"}");
		assertThat(ask("/ask")).isEqualTo(503);
		assertThat(breaker().path("state").asString()).isEqualTo("OPEN");
		assertThat(ask("/ask")).isEqualTo(503);
		assertThat(ask("/ask/either")).isEqualTo(200);
		scrape("outage");
		fault("{\"fault\":\"none\"}");
		Instant nextTrial = Instant.parse(breaker().path("nextTrialAt").asString());
		await().atMost(Duration.ofSeconds(10)).until(() -> Instant.now().isAfter(nextTrial.plusMillis(1)));
		assertThat(ask("/ask")).isEqualTo(200);
		assertThat(breaker().path("state").asString()).isEqualTo("CLOSED");
		scrape("recovery");
	}

	/** Money comes, and an operator says so. */
	private void spendCap() {
		fault("{\"fault\":\"spend-cap\"}");
		assertThat(ask("/ask")).isEqualTo(503);
		assertThat(ask("/ask")).isEqualTo(503);
		scrape("cap");
		fault("{\"fault\":\"none\"}");
		assertThat(
				exchange(HttpMethod.POST, "/actuator/llmproviders/anthropic", "{\"latch\":\"CLEAR\"}").getStatusCode()
					.value())
			.isEqualTo(200);
		assertThat(ask("/ask")).isEqualTo(200);
		scrape("end");
	}

	private JsonNode breaker() {
		return read(exchange(HttpMethod.GET, "/actuator/llmbreakers/anthropic", ""));
	}

	private void fault(String fault) {
		assertThat(exchange(HttpMethod.PUT, "/provider/faults?provider=anthropic", fault).getStatusCode().value())
			.isEqualTo(200);
	}

	private int ask(String path) {
		return exchange(HttpMethod.POST, path, "{\"provider\":\"anthropic\",\"prompt\":\"hello\"}").getStatusCode()
			.value();
	}

	private void scrape(String after) {
		this.scrapes.put(after,
				Scrape.parse(String.valueOf(exchange(HttpMethod.GET, "/actuator/prometheus", "").getBody())));
	}

	private JsonNode read(ResponseEntity<String> response) {
		return this.json.readTree(String.valueOf(response.getBody()));
	}

	private ResponseEntity<String> exchange(HttpMethod method, String path, String body) {
		RestClient.RequestBodySpec request = this.http.method(method).uri(path);
		if (!body.isEmpty()) {
			request.contentType(MediaType.APPLICATION_JSON).body(body);
		}
		return request.retrieve().onStatus((status) -> true, (sent, response) -> {
			// Failures are looked at like successes.
		}).toEntity(String.class);
	}

}
