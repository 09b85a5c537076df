package dev.llmresilience.sample.web;

import dev.llmresilience.sample.provider.EmbeddedProvider;
import dev.llmresilience.sample.provider.Limits;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.http.ResponseEntity;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a real API key, with another embedded provider in the part of the real one.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "spring.ai.anthropic.api-key=sk-ant-not-a-key", "spring.ai.openai.api-key=" })
class RealProviderTests {

	private static final EmbeddedProvider real = EmbeddedProvider.start(new Limits(1000, 1000));

	private final JsonMapper json = new JsonMapper();

	@LocalServerPort
	private int port;

	@DynamicPropertySource
	static void realProvider(DynamicPropertyRegistry registry) {
		registry.add("spring.ai.anthropic.base-url", () -> real.url().toString());
	}

	@AfterAll
	static void stop() {
		real.close();
	}

	@Test
	void a_burst_wants_to_be_confirmed() {
		ResponseEntity<String> response = burst("anthropic", "calls=5");
		assertThat(response.getStatusCode().value()).isEqualTo(400);
		assertThat(response.getBody()).contains("confirm=true is needed");
	}

	@Test
	void a_burst_is_limited_to_a_thousand_calls() {
		ResponseEntity<String> response = burst("anthropic", "calls=1001&confirm=true");
		assertThat(response.getStatusCode().value()).isEqualTo(400);
		assertThat(response.getBody()).contains("calls must be between 1 and 1000, but was 1001");
	}

	@Test
	void a_confirmed_burst_goes_to_the_real_provider_and_is_counted_on_its_way_out() {
		JsonNode result = this.json.readTree(String.valueOf(burst("anthropic", "calls=5&confirm=true").getBody()));
		assertThat(result.path("answered").asInt()).isEqualTo(5);
		assertThat(result.path("requestsSent").asInt()).isEqualTo(5);
		assertThat(result.path("floorSeconds").isNull()).isTrue();
		assertThat(real.account("anthropic").counts().arrived()).isEqualTo(5);
	}

	@Test
	void a_provider_whose_key_is_empty_stays_the_embedded_one() {
		JsonNode result = this.json.readTree(String.valueOf(burst("openai", "calls=5").getBody()));
		assertThat(result.path("answered").asInt()).isEqualTo(5);
		assertThat(real.account("openai").counts().arrived()).isZero();
	}

	private ResponseEntity<String> burst(String provider, String parameters) {
		return RestClient.create("http://localhost:" + this.port)
			.post()
			.uri("/burst?provider=" + provider + "&" + parameters)
			.retrieve()
			.onStatus((status) -> true, (request, response) -> {
				// Failures are looked at like successes.
			})
			.toEntity(String.class);
	}

}
