package dev.llmresilience.sample.web;

import java.time.Instant;

import dev.llmresilience.sample.provider.Account;
import dev.llmresilience.sample.provider.EmbeddedProvider;
import dev.llmresilience.sample.provider.Fault;
import dev.llmresilience.sample.provider.FaultKind;
import dev.llmresilience.sample.provider.Limits;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what a caller of {@code /ask} sees while the provider misbehaves.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "spring.ai.anthropic.api-key=embedded", "spring.ai.openai.api-key=embedded",
				"spring.ai.anthropic.timeout=2s", "spring.ai.openai.timeout=2s",
				"llm.resilience.providers.default.retry.base-delay=1ms",
				"llm.resilience.providers.default.retry.rate-limit-base-delay=1ms",
				"llm.resilience.providers.default.retry.retry-after-spread=1ms",
				"llm.resilience.providers.anthropic.limiter.requests-per-minute=60000",
				"llm.resilience.providers.openai.limiter.requests-per-minute=60000" })
class AskFailureTests {

	private static final String PROMPT = "a private question";

	private final JsonMapper json = new JsonMapper();

	@LocalServerPort
	private int port;

	@Autowired
	private EmbeddedProvider provider;

	@BeforeEach
	void reset() {
		this.provider.accounts().values().forEach((account) -> {
			account.limits(new Limits(1000, 1000));
			account.fault(Fault.NONE);
			account.resetCounts();
		});
		// A success clears what an earlier test left in the breakers.
		ask("anthropic");
		ask("openai");
		this.provider.accounts().values().forEach(Account::resetCounts);
	}

	@ParameterizedTest
	@CsvSource({ "anthropic, overloaded", "anthropic, server-error", "anthropic, reset", "anthropic, hang",
			"openai, overloaded", "openai, server-error", "openai, reset", "openai, hang" })
	void a_fault_that_passes_is_not_seen_at_all(String name, String fault) {
		this.provider.account(name).fault(Fault.of(FaultKind.of(fault)).times(1));
		assertThat(ask(name).getStatusCode().value()).isEqualTo(200);
		assertThat(this.provider.account(name).counts().arrived()).isEqualTo(2);
	}

	@ParameterizedTest
	@CsvSource({ "anthropic", "openai" })
	void a_rate_limit_that_passes_is_waited_for(String name) {
		this.provider.account(name).fault(Fault.of(FaultKind.RATE_LIMITED).times(1).retryAfter(0));
		assertThat(ask(name).getStatusCode().value()).isEqualTo(200);
		assertThat(this.provider.account(name).counts().arrived()).isEqualTo(2);
	}

	@ParameterizedTest
	@CsvSource({ "anthropic", "openai" })
	void a_fault_that_stays_tells_kind_attempts_and_reason(String name) {
		this.provider.account(name).fault(Fault.of(FaultKind.SERVER_ERROR));
		JsonNode problem = problem(ask(name), 502);
		assertThat(problem.path("kind").asString()).isEqualTo("SERVER_ERROR");
		assertThat(problem.path("attempts").asInt()).isEqualTo(4);
		assertThat(problem.path("reason").asString()).isEqualTo("ATTEMPTS");
		assertThat(this.provider.account(name).counts().arrived()).isEqualTo(4);
	}

	@ParameterizedTest
	@CsvSource({ "anthropic", "openai" })
	@DirtiesContext(methodMode = DirtiesContext.MethodMode.AFTER_METHOD)
	void a_wait_that_is_too_long_tells_when_to_come_back(String name) {
		this.provider.account(name).fault(Fault.of(FaultKind.RATE_LIMITED).times(1).retryAfter(600));
		ResponseEntity<String> response = ask(name);
		JsonNode problem = problem(response, 429);
		assertThat(problem.path("kind").asString()).isEqualTo("RATE_LIMITED");
		assertThat(problem.path("attempts").asInt()).isOne();
		assertThat(problem.path("reason").asString()).isEqualTo("RETRY_AFTER");
		assertThat(Instant.parse(problem.path("retryAt").asString())).isBetween(Instant.now().plusSeconds(500),
				Instant.now().plusSeconds(601));
		assertThat(response.getHeaders().getFirst("Retry-After")).isBetween("590", "601");
	}

	@Test
	void another_provider_answers_what_the_first_cannot() {
		this.provider.account("anthropic").fault(Fault.of(FaultKind.OVERLOADED));
		JsonNode answer = this.json.readTree(askEither().getBody());
		assertThat(answer.path("provider").asString()).isEqualTo("openai");
		assertThat(this.provider.account("openai").counts().arrived()).isOne();
	}

	@Test
	void our_own_mistake_reaches_no_other_provider() {
		this.provider.account("anthropic").fault(Fault.ofStatus(400));
		assertThat(askEither().getStatusCode().is4xxClientError()).isTrue();
		assertThat(this.provider.account("anthropic").counts().arrived()).isOne();
		assertThat(this.provider.account("openai").counts().arrived()).isZero();
	}

	private ResponseEntity<String> askEither() {
		return RestClient.create("http://localhost:" + this.port)
			.post()
			.uri("/ask/either")
			.contentType(MediaType.APPLICATION_JSON)
			.body("{\"prompt\": \"" + PROMPT + "\"}")
			.retrieve()
			.onStatus((status) -> true, (request, response) -> {
			})
			.toEntity(String.class);
	}

	@ParameterizedTest
	@CsvSource({ "anthropic, 400", "openai, 422" })
	void our_own_mistake_is_not_repeated(String name, int status) {
		this.provider.account(name).fault(Fault.ofStatus(status));
		JsonNode problem = problem(ask(name), 400);
		assertThat(problem.path("kind").asString()).isEqualTo("INVALID_REQUEST");
		assertThat(problem.path("attempts").asInt()).isOne();
		assertThat(this.provider.account(name).counts().arrived()).isOne();
	}

	@ParameterizedTest
	@CsvSource({ "anthropic", "openai" })
	void an_answer_that_cannot_be_read_is_not_asked_for_again(String name) {
		this.provider.account(name).fault(Fault.of(FaultKind.MALFORMED));
		assertThat(ask(name).getStatusCode().is5xxServerError()).isTrue();
		assertThat(this.provider.account(name).counts().arrived()).isOne();
	}

	@ParameterizedTest
	@CsvSource({ "anthropic", "openai" })
	@DirtiesContext(methodMode = DirtiesContext.MethodMode.AFTER_METHOD)
	void a_spend_cap_costs_one_request_and_later_calls_are_refused(String name) {
		this.provider.account(name).fault(Fault.of(FaultKind.SPEND_CAP));
		JsonNode first = problem(ask(name), 503);
		assertThat(first.path("kind").asString()).isEqualTo("QUOTA_EXHAUSTED");
		assertThat(first.path("attempts").asInt()).isOne();
		JsonNode second = problem(ask(name), 503);
		assertThat(second.path("kind").asString()).isEqualTo("REFUSED");
		assertThat(second.path("attempts").asInt()).isZero();
		assertThat(second.path("reason").asString()).isEqualTo("QUOTA");
		assertThat(second.path("retryAt").isMissingNode()).isFalse();
		assertThat(this.provider.account(name).counts().arrived()).isOne();
	}

	@Test
	@DirtiesContext(methodMode = DirtiesContext.MethodMode.AFTER_METHOD)
	void a_dead_provider_opens_the_breaker_and_is_left_alone() {
		this.provider.account("anthropic").fault(Fault.of(FaultKind.SERVER_ERROR));
		for (int i = 0; i < 5; i++) {
			ask("anthropic");
		}
		JsonNode problem = problem(ask("anthropic"), 503);
		assertThat(problem.path("kind").asString()).isEqualTo("REFUSED");
		assertThat(problem.path("reason").asString()).isEqualTo("BREAKER");
		assertThat(problem.path("retryAt").isMissingNode()).isFalse();
		assertThat(this.provider.account("anthropic").counts().arrived()).isEqualTo(10);
		String state = RestClient.create("http://localhost:" + this.port)
			.get()
			.uri("/actuator/llmbreakers/anthropic")
			.retrieve()
			.body(String.class);
		assertThat(state).contains("\"state\":\"OPEN\"");
	}

	private ResponseEntity<String> ask(String name) {
		return RestClient.create("http://localhost:" + this.port)
			.post()
			.uri("/ask")
			.contentType(MediaType.APPLICATION_JSON)
			.body("{\"provider\":\"%s\",\"prompt\":\"%s\"}".formatted(name, PROMPT))
			.retrieve()
			.onStatus((status) -> true, (request, response) -> {
				// Failures are looked at like successes.
			})
			.toEntity(String.class);
	}

	private JsonNode problem(ResponseEntity<String> response, int status) {
		String body = String.valueOf(response.getBody());
		assertThat(response.getStatusCode().value()).as(body).isEqualTo(status);
		assertThat(response.getHeaders().getContentType()).isEqualTo(MediaType.APPLICATION_PROBLEM_JSON);
		assertThat(body).doesNotContain(PROMPT, "embedded", "Switched on by request", "Internal server error",
				"spend limit");
		return this.json.readTree(body);
	}

}
