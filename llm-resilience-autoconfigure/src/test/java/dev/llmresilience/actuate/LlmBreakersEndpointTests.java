package dev.llmresilience.actuate;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.http.HttpHeaders;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The endpoint as an operator meets it: over HTTP.
 */
class LlmBreakersEndpointTests {

	private static final String ALLOWED = "{\"error\":\"state must be CLOSED, FORCED_OPEN or DISABLED\"}";

	private static final String CLOSED = """
			{"state":"CLOSED","consecutiveFailures":0,"failureThreshold":10,"trialInFlight":false,"rejectedCalls":0}""";

	private static final String OPEN = """
			{"state":"OPEN","consecutiveFailures":10,"failureThreshold":10,"openedAt":"2026-10-01T00:00:00Z",\
			"nextTrialAt":"2026-10-01T00:00:31.400Z","trialInFlight":false,"rejectedCalls":12,\
			"lastFailure":{"kind":"OVERLOADED","status":529,"at":"2026-10-01T00:00:00Z"}}""";

	@Nested
	@SpringBootTest(classes = StoppedApplication.class, webEnvironment = WebEnvironment.RANDOM_PORT,
			properties = { "management.endpoints.web.exposure.include=llmbreakers",
					"management.endpoint.llmbreakers.access=unrestricted",
					"llm.resilience.providers.anthropic.retry.max-attempts=1",
					"llm.resilience.providers.anthropic.account=acct-secret",
					"llm.resilience.providers.calm.breaker.enabled=false" })
	class WithWriting extends CallsAndHttp {

		@BeforeEach
		void reset() {
			this.providers.breaker("anthropic").close();
		}

		@Test
		void showsWhatIsClosed() {
			assertThat(get("/actuator/llmbreakers/default")).isEqualTo(new Answer(200, CLOSED));
		}

		@Test
		void showsWhatIsOpenExactlyAsDocumented() {
			open();
			assertThat(get("/actuator/llmbreakers/anthropic")).isEqualTo(new Answer(200, OPEN));
		}

		@Test
		void showsAllThatCallsAreMadeUnder() throws Exception {
			open();
			this.resilience.call("default", () -> 42);
			assertThat(get("/actuator/llmbreakers"))
				.isEqualTo(new Answer(200, "{\"breakers\":{\"anthropic\":" + OPEN + ",\"default\":" + CLOSED + "}}"));
		}

		@Test
		void closingClearsTheCounts() {
			open();
			post("/actuator/llmbreakers/anthropic", "{\"state\":\"CLOSED\"}");
			assertThat(get("/actuator/llmbreakers/anthropic").body()).startsWith(CLOSED.replace("}", ","));
		}

		@Test
		void showsNothingThatIsSecret() {
			open();
			assertThat(get("/actuator/llmbreakers").body()).doesNotContain("secret");
			assertThat(get("/actuator/llmbreakers/anthropic").body()).doesNotContain("secret");
		}

		@ParameterizedTest
		@ValueSource(strings = { "nobody", "Anthropic", "calm" })
		void doesNotFindWhatIsNotThere(String provider) {
			assertThat(get("/actuator/llmbreakers/" + provider)).isEqualTo(new Answer(404, ""));
		}

		@ParameterizedTest
		@ValueSource(strings = { "CLOSED", "FORCED_OPEN", "DISABLED" })
		void setsAState(String state) {
			open();
			Answer answer = post("/actuator/llmbreakers/anthropic", "{\"state\":\"" + state + "\"}");
			assertThat(answer.status()).isEqualTo(200);
			assertThat(answer.body()).startsWith("{\"state\":\"" + state + "\",");
			assertThat(this.providers.breaker("anthropic").state()).hasToString(state);
			assertThat(get("/actuator/llmbreakers/anthropic")).isEqualTo(answer);
		}

		@Test
		void aClosedBreakerLetsCallsPassAgain() throws Exception {
			open();
			post("/actuator/llmbreakers/anthropic", "{\"state\":\"CLOSED\"}");
			assertThat(this.resilience.call("anthropic", () -> 42)).isEqualTo(42);
		}

		@ParameterizedTest
		@ValueSource(strings = { "{\"state\":\"OPEN\"}", "{\"state\":\"HALF_OPEN\"}", "{\"state\":\"closed\"}",
				"{\"state\":\"\"}", "{\"state\":null}", "{\"state\":7}", "{}", "", "{\"status\":\"CLOSED\"}" })
		void refusesAnyOtherStateAndNamesTheAllowedOnes(String body) {
			assertThat(post("/actuator/llmbreakers/anthropic", body)).isEqualTo(new Answer(400, ALLOWED));
		}

		@ParameterizedTest
		@ValueSource(strings = { "CLOSED", "\"CLOSED\"", "[\"CLOSED\"]", "{\"state\":", "{\"state\":[]}",
				"{\"state\":{\"to\":\"CLOSED\"}}" })
		void refusesABodyThatSpringBootItselfCannotRead(String body) {
			assertThat(post("/actuator/llmbreakers/anthropic", body).status()).isEqualTo(400);
		}

		@ParameterizedTest
		@CsvSource(delimiter = '|', value = { "nobody | {\"state\":\"CLOSED\"}", "nobody | {\"state\":\"OPEN\"}",
				"nobody | {}", "calm | {\"state\":\"FORCED_OPEN\"}" })
		void neverCreatesAnEntry(String provider, String body) {
			assertThat(post("/actuator/llmbreakers/" + provider, body)).isEqualTo(new Answer(404, ""));
			assertThat(get("/actuator/llmbreakers/" + provider).status()).isEqualTo(404);
			assertThat(this.providers.names()).containsExactly("anthropic", "calm", "default");
		}

		private void open() {
			for (int i = 0; i < 22; i++) {
				assertThat(failure("anthropic", 529, "{\"error\":{\"message\":\"secret\"}}", new HttpHeaders()))
					.isInstanceOf(Exception.class);
			}
		}

	}

	@Nested
	@SpringBootTest(classes = StoppedApplication.class, webEnvironment = WebEnvironment.RANDOM_PORT,
			properties = "management.endpoints.web.exposure.include=llmbreakers")
	class AsItIsByDefault extends OverHttp {

		@Test
		void reads() {
			assertThat(get("/actuator/llmbreakers/default")).isEqualTo(new Answer(200, CLOSED));
		}

		@Test
		void showsNoEntryThatNoCallIsMadeUnder() {
			assertThat(get("/actuator/llmbreakers")).isEqualTo(new Answer(200, "{\"breakers\":{}}"));
		}

		@Test
		void doesNotWrite() {
			assertThat(post("/actuator/llmbreakers/default", "{\"state\":\"FORCED_OPEN\"}").status()).isEqualTo(405);
			assertThat(get("/actuator/llmbreakers/default")).isEqualTo(new Answer(200, CLOSED));
		}

	}

	@Nested
	@SpringBootTest(classes = StoppedApplication.class, webEnvironment = WebEnvironment.RANDOM_PORT)
	class NotExposed extends OverHttp {

		@Test
		void isNotThere() {
			assertThat(get("/actuator/llmbreakers").status()).isEqualTo(404);
			assertThat(get("/actuator/health").status()).isEqualTo(200);
		}

	}

}
