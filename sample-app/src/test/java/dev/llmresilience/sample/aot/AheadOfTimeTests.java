package dev.llmresilience.sample.aot;

import java.nio.file.Path;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.http.MediaType;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The application works the same when its beans were worked out ahead of time.
 */
class AheadOfTimeTests {

	@Test
	void the_application_works_as_it_is(@TempDir Path directory) throws Exception {
		try (Application application = Application.start(List.of(), directory)) {
			smoke(application);
			assertThat(application.log()).doesNotContain("AOT-processed");
		}
	}

	@Test
	void the_application_works_when_it_was_processed_ahead_of_time(@TempDir Path directory) throws Exception {
		List<Path> generated = Application.processAheadOfTime(directory);
		try (Application application = Application.start(generated, directory, "-Dspring.aot.enabled=true")) {
			smoke(application);
			assertThat(application.log()).contains("AOT-processed");
		}
	}

	private static void smoke(Application application) {
		Caller caller = new Caller(RestClient.create("http://localhost:" + application.port()), new JsonMapper());
		assertThat(caller.post("/ask", "{\"provider\":\"anthropic\",\"prompt\":\"hello\"}").path("answer").asString())
			.isEqualTo("You said: hello");
		assertThat(caller.post("/ask", "{\"provider\":\"openai\",\"prompt\":\"hello\"}").path("answer").asString())
			.isEqualTo("You said: hello");
		JsonNode burst = caller.post("/burst?provider=openai&calls=15", "{}");
		assertThat(burst.path("answered").asInt()).isEqualTo(15);
		caller.put("/provider/faults?provider=anthropic", "{\"fault\":\"server-error\",\"count\":1}");
		assertThat(caller.post("/ask", "{\"provider\":\"anthropic\",\"prompt\":\"hello\"}").path("answer").asString())
			.as("retried")
			.isEqualTo("You said: hello");
		caller.put("/provider/faults?provider=anthropic", "{\"fault\":\"spend-cap\",\"count\":1}");
		assertThat(caller.post("/ask/either", "{\"prompt\":\"hello\"}").path("provider").asString()).as("failed over")
			.isEqualTo("openai");
		assertThat(caller.get("/actuator/llmbreakers").path("breakers").path("anthropic").path("state").asString())
			.isEqualTo("CLOSED");
		JsonNode provider = caller.get("/actuator/llmproviders/anthropic");
		assertThat(provider.path("methods").size()).isEqualTo(2);
		assertThat(provider.path("limiter").path("configuredRequestsPerMinute").asInt()).isEqualTo(600);
		assertThat(provider.path("quota").path("latched").asBoolean()).isTrue();
		assertThat(caller.text("/actuator/prometheus")).contains("llm_quota_latched{provider=\"anthropic\"} 1.0",
				"llm_attempts_total{kind=\"SERVER_ERROR\",provider=\"anthropic\"} 1.0");
		assertThat(caller.text("/actuator/beans")).contains("\"anthropicCircuitBreaker\"", "\"anthropicRateLimiter\"",
				"\"openaiRetryBudget\"");
		assertThat(caller.get("/actuator/health").path("status").asString()).isEqualTo("UP");
	}

	private record Caller(RestClient http, JsonMapper json) {

		JsonNode post(String path, String body) {
			return read(this.http.post()
				.uri(path)
				.contentType(MediaType.APPLICATION_JSON)
				.body(body)
				.retrieve()
				.body(String.class));
		}

		void put(String path, String body) {
			this.http.put().uri(path).contentType(MediaType.APPLICATION_JSON).body(body).retrieve().toBodilessEntity();
		}

		JsonNode get(String path) {
			return read(text(path));
		}

		String text(String path) {
			return String.valueOf(this.http.get().uri(path).retrieve().body(String.class));
		}

		private JsonNode read(@Nullable String body) {
			return this.json.readTree(String.valueOf(body));
		}

	}

}
