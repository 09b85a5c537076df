package dev.llmresilience.sample.web;

import dev.llmresilience.sample.provider.EmbeddedProvider;
import dev.llmresilience.sample.provider.Fault;
import dev.llmresilience.sample.provider.FaultKind;
import dev.llmresilience.sample.provider.Limits;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.client.RestClient;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the endpoints over HTTP, with the real SDKs against the embedded provider.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = { "spring.ai.anthropic.api-key=embedded",
		"spring.ai.openai.api-key=embedded", "sample.provider.burst=22" })
class EndpointTests {

	// Two tokens more than the application's limiter knows of: on a busy machine the
	// first
	// calls of a burst may arrive so far apart that the full bucket has no room for a
	// token.
	private static final Limits LIMITS = new Limits(10, 22);

	private final JsonMapper json = new JsonMapper();

	@LocalServerPort
	private int port;

	@Autowired
	private EmbeddedProvider provider;

	@AfterEach
	void reset() {
		this.provider.accounts().values().forEach((account) -> {
			account.limits(LIMITS);
			account.fault(Fault.NONE);
			account.resetCounts();
		});
	}

	@ParameterizedTest
	@CsvSource({ "anthropic", "openai" })
	void a_question_gets_its_answer(String name) {
		ResponseEntity<String> response = post("/ask", "{\"provider\":\"%s\",\"prompt\":\"hello\"}".formatted(name));
		assertThat(response.getStatusCode().value()).isEqualTo(200);
		assertThat(response.getBody()).isEqualTo("{\"answer\":\"You said: hello\"}");
	}

	@ParameterizedTest
	@CsvSource({ "anthropic", "openai" })
	void a_burst_gets_all_its_answers_without_a_rejection(String name) {
		JsonNode result = read(post("/burst?calls=30&provider=" + name, ""));
		assertThat(result.propertyNames()).containsExactly("calls", "answered", "failed", "requestsSent", "rejected",
				"lastAnswerSeconds", "p95Seconds", "floorSeconds");
		assertThat(result.path("calls").asInt()).isEqualTo(30);
		assertThat(result.path("answered").asInt()).isEqualTo(30);
		assertThat(result.path("failed").asInt()).isZero();
		assertThat(result.path("requestsSent").asInt()).isEqualTo(30);
		assertThat(result.path("rejected").asInt()).isZero();
		assertThat(result.path("floorSeconds").asDouble()).isEqualTo(0.8);
	}

	@Test
	void a_second_burst_right_after_the_first_gets_all_its_answers_too() {
		post("/burst?calls=30", "");
		JsonNode result = read(post("/burst?calls=30", ""));
		assertThat(result.path("answered").asInt()).isEqualTo(30);
		assertThat(result.path("requestsSent").asInt()).isEqualTo(30);
		assertThat(result.path("rejected").asInt()).isZero();
	}

	@Test
	void limits_can_be_changed_for_all_accounts() {
		put("/provider/limits", "{\"requestsPerSecond\":7.5,\"burst\":3,\"latencyMillis\":0}");
		assertThat(this.provider.account("anthropic").limits()).isEqualTo(new Limits(7.5, 3, 0, null));
		assertThat(this.provider.account("openai").limits()).isEqualTo(new Limits(7.5, 3, 0, null));
	}

	@Test
	void tokens_can_be_limited_for_one_account() {
		put("/provider/limits?provider=openai", "{\"requestsPerSecond\":10,\"burst\":22,\"tokensPerMinute\":600}");
		assertThat(this.provider.account("openai").limits()).isEqualTo(new Limits(10, 22, null, 600));
		assertThat(this.provider.account("anthropic").limits()).isEqualTo(LIMITS);
	}

	@Test
	void the_headers_of_the_limits_can_be_switched_off_and_on_again() {
		assertThat(this.provider.account("openai").headers()).isTrue();
		put("/provider/headers?provider=openai", "{\"sent\":false}");
		assertThat(this.provider.account("openai").headers()).isFalse();
		assertThat(this.provider.account("anthropic").headers()).isTrue();
		put("/provider/headers", "{\"sent\":true}");
		assertThat(this.provider.account("openai").headers()).isTrue();
	}

	@Test
	void a_fault_can_be_switched_on_for_one_account_and_off_again() {
		put("/provider/faults?provider=openai", "{\"fault\":\"overloaded\",\"count\":3}");
		assertThat(this.provider.account("openai").fault()).isEqualTo(Fault.of(FaultKind.OVERLOADED).times(3));
		assertThat(this.provider.account("anthropic").fault()).isEqualTo(Fault.NONE);
		put("/provider/faults", "{\"fault\":\"none\"}");
		assertThat(this.provider.account("openai").fault()).isEqualTo(Fault.NONE);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			PUT  | /provider/faults | {"fault":"bad"}                   | fault must be one of none, rate-limited
			PUT  | /provider/faults | {}                                | fault must be one of none, rate-limited
			PUT  | /provider/faults | {"fault":"hang","coun":3}         | 'coun' is unknown, known are
			PUT  | /provider/faults | {"fault":"hang","count":"x"}      | Cannot deserialize value
			PUT  | /provider/faults?provider=x | {"fault":"none"}       | provider must be one of anthropic, openai
			PUT  | /provider/limits | {"burst":3}                       | requestsPerSecond: Cannot map `null`
			PUT  | /provider/limits | {"requestsPerSecond":0,"burst":3} | requestsPerSecond must be more than 0
			PUT  | /provider/limits | {"requestsPerSecond":1,"burst":0} | burst must be between 1 and 1000000
			PUT  | /provider/limits | {"requestsPerSecond":1,"burst":1,"tokensPerMinute":0} | tokensPerMinute must be at
			PUT  | /provider/headers | {}                               | sent: Cannot map `null`
			PUT  | /provider/limits | no json                           | Unrecognized token
			POST | /ask             | {"provider":"x","prompt":"a"}     | provider must be one of anthropic, openai
			POST | /ask             | {"provider":"openai"}             | prompt must be a text
			POST | /burst?calls=0   | {}                                | calls must be between 1 and 2000, but was 0
			POST | /burst?provider=x | {}                               | provider must be one of anthropic, openai
			""")
	void a_bad_request_is_answered_with_what_is_allowed(String method, String path, String body, String detail) {
		ResponseEntity<String> response = exchange(HttpMethod.valueOf(method), path, body);
		assertThat(response.getStatusCode().value()).isEqualTo(400);
		assertThat(response.getHeaders().getContentType()).isEqualTo(MediaType.APPLICATION_PROBLEM_JSON);
		assertThat(read(response).path("detail").asString()).contains(detail);
	}

	@Test
	void the_state_of_the_embedded_provider_can_be_read() {
		JsonNode state = read(exchange(HttpMethod.GET, "/provider", ""));
		assertThat(state.path("url").asString()).startsWith("http://127.0.0.1:");
		assertThat(state.path("accounts").propertyNames()).containsExactly("anthropic", "openai");
		assertThat(state.path("accounts").path("openai").path("headers").asBoolean()).isTrue();
	}

	private ResponseEntity<String> post(String path, String body) {
		return exchange(HttpMethod.POST, path, body);
	}

	private void put(String path, String body) {
		assertThat(exchange(HttpMethod.PUT, path, body).getStatusCode().value()).isEqualTo(200);
	}

	private ResponseEntity<String> exchange(HttpMethod method, String path, String body) {
		return RestClient.create("http://localhost:" + this.port)
			.method(method)
			.uri(path)
			.contentType(MediaType.APPLICATION_JSON)
			.body(body)
			.retrieve()
			.onStatus((status) -> true, (request, response) -> {
				// Failures are looked at like successes.
			})
			.toEntity(String.class);
	}

	private JsonNode read(ResponseEntity<String> response) {
		return this.json.readTree(String.valueOf(response.getBody()));
	}

}
