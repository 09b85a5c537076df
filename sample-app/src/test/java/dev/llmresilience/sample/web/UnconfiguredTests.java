package dev.llmresilience.sample.web;

import dev.llmresilience.sample.provider.EmbeddedProvider;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.core.env.Environment;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the profile in which the library knows no limit.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "spring.ai.anthropic.api-key=embedded", "spring.ai.openai.api-key=embedded",
				"sample.provider.tokens-per-minute=60000", "sample.provider.headers=false" })
@ActiveProfiles("unconfigured")
class UnconfiguredTests {

	@LocalServerPort
	private int port;

	@Autowired
	private Environment environment;

	@Autowired
	private EmbeddedProvider provider;

	@Test
	void nothing_is_configured() {
		assertThat(this.environment.containsProperty("llm.resilience.providers.anthropic.limiter.requests-per-minute"))
			.isFalse();
		assertThat(this.environment.containsProperty("llm.resilience.providers.default.retry.rate-limit-base-delay"))
			.isFalse();
	}

	@Test
	void the_embedded_provider_is_as_its_properties_say() {
		assertThat(this.provider.account("openai").limits().tokensPerMinute()).isEqualTo(60_000);
		assertThat(this.provider.account("openai").headers()).isFalse();
	}

	@Test
	void a_burst_gets_all_its_answers_all_the_same() {
		JsonNode result = JsonMapper.shared()
			.readTree(RestClient.create("http://localhost:" + this.port)
				.post()
				.uri("/burst?calls=40")
				.retrieve()
				.body(String.class));
		assertThat(result.path("answered").asInt()).isEqualTo(40);
	}

}
