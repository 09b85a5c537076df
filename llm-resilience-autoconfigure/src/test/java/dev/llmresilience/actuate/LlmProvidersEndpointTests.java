package dev.llmresilience.actuate;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.Priority;
import dev.llmresilience.Recovery;
import dev.llmresilience.RecoveryStrategy;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpHeaders;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The endpoint as an operator meets it: over HTTP.
 */
class LlmProvidersEndpointTests {

	private static final String PATH = "/actuator/llmproviders";

	private static final String POLICY = """
			{"maxAttempts":4,"rateLimitRetries":5,"baseDelay":"500ms","rateLimitBaseDelay":"5s","maxDelay":"30s",\
			"multiplier":2.0,"jitter":"FULL","jitterFactor":0.1,"retryAfterSpread":"1s","maxRetryAfter":"2m",\
			"timeout":"10m","attemptTimeout":"4m","attemptTimeoutMultiplier":1.0,"attemptThread":"CALLER",\
			"firstElementTimeout":"4m","onOpen":"FAIL","failover":[],"failoverOn":["RATE_LIMITED","OVERLOADED",\
			"SERVER_ERROR","TIMEOUT","CONNECTION","QUOTA_EXHAUSTED"]}""";

	private static final String QUIET = """
			{"type":"GENERIC","account":"quiet","retries":"ON","limiter":{"mode":"ADAPTIVE","share":1.0,\
			"configuredRequestsPerMinute":600.0,"requestsPerMinute":600.0,"level":20.0,"waiting":0,\
			"limits":{"REQUESTS":{"perMinute":600.0,"origin":"CONFIGURED","capacity":20.0,"level":20.0}}},\
			"budget":{"tokens":50.0,"capacity":50.0},"quota":{"latched":false},"policy":%s,"programmatic":false,\
			"methods":[],"layers":[]}""".formatted(POLICY);

	@Nested
	@SpringBootTest(classes = Application.class, webEnvironment = WebEnvironment.RANDOM_PORT,
			properties = { "management.endpoints.web.exposure.include=llmproviders",
					"management.endpoint.llmproviders.access=unrestricted", "llm.resilience.layers=ignore",
					"llm.resilience.providers.quiet.limiter.requests-per-minute=600",
					"llm.resilience.providers.quiet.limiter.burst=20", "llm.resilience.providers.openai.account=acme",
					"llm.resilience.providers.openai.retry.base-delay=1ms",
					"llm.resilience.providers.openai.limiter.mode=off",
					"llm.resilience.providers.anthropic.retry.max-attempts=1",
					"llm.resilience.providers.anthropic.limiter.share=0.5",
					"llm.resilience.providers.anthropic.limiter.requests-per-minute=600",
					"llm.resilience.providers.anthropic.limiter.tokens-per-minute=40000",
					"llm.resilience.providers.anthropic.limiter.max-concurrent-calls=7",
					"llm.resilience.providers.haiku.limiter.shared-with=anthropic",
					"llm.resilience.providers.haiku.budget.enabled=false",
					"llm.resilience.providers.patient.retry.failover=openai",
					"llm.resilience.providers.patient.retry.rate-limit-max-elapsed=90s",
					"llm.resilience.providers.patient.retry.idle-timeout=1500ms",
					"llm.resilience.providers.patient.retry.idempotency-key-header=Idempotency-Key" })
	class WithWriting extends CallsAndHttp {

		@BeforeEach
		void reset() {
			for (String name : this.providers.names()) {
				this.providers.limiter(name).startOver();
				this.providers.clearLatches(name);
				this.providers.setRetries(name, true);
			}
			this.providers.breaker("openai").close();
			this.providers.setRequestsPerMinute("anthropic", 600);
			this.providers.setRequestsPerMinute("quiet", 600);
		}

		/* What it shows. */

		@Test
		void showsAnEntryExactlyAsDocumented() {
			assertThat(get(PATH + "/quiet")).isEqualTo(new Answer(200, QUIET));
		}

		@Test
		void showsAllThatCallsAreMadeUnder() {
			assertThat(json(PATH).<Map<String, Object>>read("$.providers")).containsOnlyKeys("anthropic", "haiku",
					"openai", "patient", "quiet");
			assertThat(get(PATH).body()).contains("\"quiet\":" + QUIET);
		}

		@Test
		void showsEveryPropertyOfThePolicyThatHolds() {
			assertThat(get(PATH + "/patient").body()).contains("""
					{"maxAttempts":4,"rateLimitMaxElapsed":"90s","rateLimitEscalateAfter":3,"baseDelay":"500ms",""")
				.contains("\"idleTimeout\":\"1500ms\",\"onOpen\":\"FAIL\",\"idempotencyKeyHeader\":\"Idempotency-Key\","
						+ "\"failover\":[\"openai\"],");
		}

		@Test
		void showsTheLimitsOfThisProcessByWhatIsLimited() {
			assertThat(json(PATH + "/anthropic").<Map<String, Object>>read("$.limiter")).containsEntry("share", 0.5)
				.containsEntry("configuredRequestsPerMinute", 600.0)
				.containsEntry("requestsPerMinute", 300.0)
				.containsEntry("callsInFlight", 0)
				.containsEntry("maxConcurrentCalls", 7);
			assertThat(json(PATH + "/anthropic").<Map<String, Object>>read("$.limiter.limits")).containsExactly(
					Map.entry("REQUESTS",
							Map.of("perMinute", 300.0, "origin", "CONFIGURED", "capacity", 5.0, "level", 5.0)),
					Map.entry("TOKENS", Map.of("perMinute", 20000.0, "origin", "CONFIGURED", "capacity", 20000.0,
							"level", 20000.0)));
		}

		@Test
		void showsWhatWasLearntFromARejectionAndUntilWhenItPauses() {
			fail("patient", 429, "", "30");
			assertThat(json(PATH + "/patient").<Map<String, Object>>read("$.limiter"))
				.containsEntry("pausedUntil", "2026-10-01T00:00:30Z")
				.containsEntry("level", 0.0)
				.containsKey("requestsPerMinute")
				.doesNotContainKey("configuredRequestsPerMinute");
			assertThat(json(PATH + "/patient").<String>read("$.limiter.limits.REQUESTS.origin")).isEqualTo("LEARNT");
		}

		@Test
		void showsNoRateWhereEveryCallPasses() {
			assertThat(json(PATH + "/openai").<Map<String, Object>>read("$.limiter")).containsOnly(
					Map.entry("mode", "OFF"), Map.entry("share", 1.0), Map.entry("waiting", 0),
					Map.entry("limits", Map.of()));
		}

		@Test
		void showsWhoseLimiterIsShared() {
			assertThat(json(PATH + "/haiku").<String>read("$.limiter.sharedWith")).isEqualTo("anthropic");
			assertThat(json(PATH + "/haiku").<Map<String, Object>>read("$")).doesNotContainKey("budget");
		}

		@Test
		void showsTheLatchOfAnExhaustedQuota() {
			exhaust();
			assertThat(json(PATH + "/openai").<String>read("$.account")).isEqualTo("acme");
			assertThat(json(PATH + "/openai").<Map<String, Object>>read("$.quota")).containsExactly(
					Map.entry("latched", true), Map.entry("scope", "ACCOUNT"), Map.entry("code", "insufficient_quota"),
					Map.entry("since", "2026-10-01T00:00:00Z"), Map.entry("nextProbeAt", "2026-10-01T00:05:00Z"));
		}

		@Test
		void showsWhatTheBudgetHasLeft() {
			fail("openai", 500, "", null);
			assertThat(json(PATH + "/openai").<Double>read("$.budget.tokens")).isLessThan(50);
		}

		@Test
		void showsThatCallsAreMadeWithoutAnAnnotation() throws Exception {
			assertThat(json(PATH + "/haiku").<Boolean>read("$.programmatic")).isFalse();
			this.resilience.call("haiku", () -> 42);
			assertThat(json(PATH + "/haiku").<Boolean>read("$.programmatic")).isTrue();
		}

		/* Who uses it. */

		@Test
		void showsTheAnnotatedMethodsWithTheirPolicyAndWhereTheyHaveItFrom() {
			assertThat(json(PATH + "/openai").<List<String>>read("$.methods[*].method")).containsExactly(
					"careful(String)", "charge(int)", "onMethod(String)", "onInterface()", "onInterfaceMethod(List)",
					"onClass()");
			String own = LlmProvidersEndpointTests.class.getName() + "$";
			assertThat(source("onMethod(String)")).isEqualTo(Map.of("placement", "METHOD", "type", own + "Chat"));
			assertThat(source("onClass()")).isEqualTo(Map.of("placement", "CLASS", "type", own + "Translator"));
			assertThat(source("onInterface()")).isEqualTo(Map.of("placement", "INTERFACE", "type", own + "Api"));
			assertThat(source("onInterfaceMethod(List)"))
				.isEqualTo(Map.of("placement", "INTERFACE_METHOD", "type", own + "Single"));
			assertThat(source("careful(String)"))
				.isEqualTo(Map.of("placement", "METHOD", "type", own + "Chat", "annotation", own + "Careful"));
		}

		private Object source(String method) {
			return json(PATH + "/openai").<List<Object>>read("$.methods[?(@.method=='" + method + "')].source").get(0);
		}

		@Test
		void aMethodsPolicyIsThatOfTheEntryWithWhatTheAnnotationAsksFor() {
			Map<String, Object> method = json(PATH + "/openai")
				.<List<Map<String, Object>>>read("$.methods[?(@.method=='onMethod(String)')]")
				.get(0);
			assertThat(method).containsEntry("className", Chat.class.getName())
				.containsEntry("idempotent", false)
				.containsEntry("priority", "HIGH");
			assertThat(method.get("policy")).asInstanceOf(InstanceOfAssertFactories.MAP)
				.containsEntry("maxAttempts", 2)
				.containsEntry("rateLimitRetries", 1)
				.containsEntry("baseDelay", "1ms")
				.containsEntry("timeout", "20s")
				.containsEntry("attemptTimeout", "5s")
				.containsEntry("firstElementTimeout", "5s")
				.containsEntry("failover", List.of("anthropic"))
				.containsEntry("rateLimitEscalateAfter", 3);
		}

		@Test
		void aMethodWithARecoveryStrategyHasNoPolicy() {
			Map<String, Object> method = json(PATH + "/openai")
				.<List<Map<String, Object>>>read("$.methods[?(@.method=='charge(int)')]")
				.get(0);
			assertThat(method).containsEntry("recovery", "once").doesNotContainKeys("policy", "priority");
		}

		/* What it changes. */

		@Test
		void setsTheRate() {
			Answer answer = post(PATH + "/quiet", "{\"requestsPerMinute\":30.5}");
			assertThat(answer.status()).isEqualTo(200);
			assertThat(answer.body()).contains("\"configuredRequestsPerMinute\":30.5,\"requestsPerMinute\":30.5,");
			assertThat(get(PATH + "/quiet")).isEqualTo(answer);
			assertThat(this.providers.limiter("quiet").requestsPerMinute()).isEqualTo(30.5);
		}

		@Test
		void theRateIsThatOfAllProcessesTogether() {
			assertThat(post(PATH + "/anthropic", "{\"requestsPerMinute\":1200}").body())
				.contains("\"configuredRequestsPerMinute\":1200.0,\"requestsPerMinute\":600.0,");
		}

		@Test
		void clearsTheLatch() throws Exception {
			exhaust();
			assertThat(post(PATH + "/openai", "{\"latch\":\"CLEAR\"}").body())
				.contains("\"quota\":{\"latched\":false}");
			assertThat(this.resilience.call("openai", () -> 42)).isEqualTo(42);
		}

		@Test
		void switchesRetriesOffAndOn() {
			assertThat(post(PATH + "/openai", "{\"retries\":\"OFF\"}").body()).contains("\"retries\":\"OFF\"");
			LlmCallReport report = fail("openai", 500, "", null);
			assertThat(report.attempts()).hasSize(1);
			assertThat(report.reason()).isEqualTo(GiveUpReason.RETRIES_OFF);
			assertThat(post(PATH + "/openai", "{\"retries\":\"ON\"}").body()).contains("\"retries\":\"ON\"");
			assertThat(fail("openai", 500, "", null).attempts()).hasSize(4);
		}

		@Test
		void changesSeveralAtOnce() {
			this.providers.get("quiet").quota().latch("daily", null);
			String body = post(PATH + "/quiet", "{\"requestsPerMinute\":60,\"latch\":\"CLEAR\",\"retries\":\"OFF\"}")
				.body();
			assertThat(body).contains("\"requestsPerMinute\":60.0", "\"latched\":false", "\"retries\":\"OFF\"");
		}

		@ParameterizedTest
		@CsvSource(delimiter = '|', quoteCharacter = '\'', value = {
				"{\"requestsPerMinute\":0} | requestsPerMinute = 0: must be a number above 0, decimals allowed",
				"{\"requestsPerMinute\":-5} | requestsPerMinute = -5: must be a number above 0, decimals allowed",
				"{\"requestsPerMinute\":\"many\"} | requestsPerMinute = many: must be a number above 0, decimals allowed",
				"{\"requestsPerMinute\":\"NaN\"} | requestsPerMinute = NaN: must be a number above 0, decimals allowed",
				"{\"requestsPerMinute\":\"Infinity\"} | requestsPerMinute = Infinity: must be a number above 0, decimals allowed",
				"{\"requestsPerMinute\":\"\"} | requestsPerMinute = : must be a number above 0, decimals allowed",
				"{\"requestsPerMinute\":true} | requestsPerMinute = true: must be a number above 0, decimals allowed",
				"{\"latch\":\"clear\"} | latch = clear: must be CLEAR",
				"{\"latch\":\"SET\"} | latch = SET: must be CLEAR",
				"{\"retries\":\"off\"} | retries = off: must be ON or OFF",
				"{\"retries\":false} | retries = false: must be ON or OFF",
				"{} | one of requestsPerMinute, latch and retries must be set",
				"{\"rate\":5} | one of requestsPerMinute, latch and retries must be set",
				"{\"retries\":null} | one of requestsPerMinute, latch and retries must be set" })
		void refusesWhatIsNotAllowedAndSaysWhatIs(String body, String error) {
			assertThat(post(PATH + "/quiet", body)).isEqualTo(new Answer(400, "{\"error\":\"" + error + "\"}"));
			assertThat(get(PATH + "/quiet").body()).isEqualTo(QUIET);
		}

		@ParameterizedTest
		@ValueSource(strings = { "{\"requestsPerMinute\":60,\"latch\":\"NO\",\"retries\":\"OFF\"}",
				"{\"requestsPerMinute\":60,\"latch\":\"CLEAR\",\"retries\":\"NO\"}",
				"{\"requestsPerMinute\":-1,\"latch\":\"CLEAR\",\"retries\":\"OFF\"}" })
		void nothingTakesEffectUnlessAllOfItCan(String body) {
			this.providers.get("quiet").quota().latch("daily", null);
			String before = get(PATH + "/quiet").body();
			assertThat(post(PATH + "/quiet", body).status()).isEqualTo(400);
			assertThat(get(PATH + "/quiet").body()).isEqualTo(before).contains("\"latched\":true");
		}

		@Test
		void refusesARateForALimiterThatIsOff() {
			assertThat(post(PATH + "/openai", "{\"requestsPerMinute\":60}")).isEqualTo(
					new Answer(400, "{\"error\":\"requestsPerMinute = 60: cannot be set where limiter.mode is off\"}"));
		}

		@ParameterizedTest
		@ValueSource(strings = { "OFF", "\"OFF\"", "[\"OFF\"]", "{\"retries\":", "{\"retries\":[]}" })
		void refusesABodyThatSpringBootItselfCannotRead(String body) {
			assertThat(post(PATH + "/quiet", body).status()).isEqualTo(400);
		}

		@ParameterizedTest
		@ValueSource(strings = { "nobody", "Quiet" })
		void doesNotFindWhatIsNotThere(String provider) {
			assertThat(get(PATH + "/" + provider)).isEqualTo(new Answer(404, ""));
		}

		@ParameterizedTest
		@ValueSource(strings = { "{\"retries\":\"OFF\"}", "{\"retries\":\"NO\"}", "{}", "{\"requestsPerMinute\":60}" })
		void neverCreatesAnEntry(String body) {
			assertThat(post(PATH + "/nobody", body)).isEqualTo(new Answer(404, ""));
			assertThat(get(PATH + "/nobody").status()).isEqualTo(404);
			assertThat(this.providers.names()).doesNotContain("nobody");
		}

		/* What it never shows. */

		@Test
		void showsNothingThatIsSecret() {
			exhaust();
			fail("anthropic", 429, "{\"error\":{\"message\":\"secret\"}}", "3");
			assertThat(get(PATH).body()).doesNotContain("secret");
			assertThat(get(PATH + "/openai").body()).doesNotContain("secret");
		}

		private void exhaust() {
			fail("openai", 429, "{\"error\":{\"message\":\"secret\",\"type\":\"insufficient_quota\","
					+ "\"code\":\"insufficient_quota\"}}", null);
		}

		private LlmCallReport fail(String provider, int status, String body, @Nullable String retryAfter) {
			HttpHeaders headers = new HttpHeaders();
			headers.set("x-api-key", "secret");
			if (retryAfter != null) {
				headers.set(HttpHeaders.RETRY_AFTER, retryAfter);
			}
			return Objects.requireNonNull(LlmCallReport.find(failure(provider, status, body, headers)));
		}

	}

	@Nested
	@SpringBootTest(classes = Application.class, webEnvironment = WebEnvironment.RANDOM_PORT,
			properties = { "management.endpoints.web.exposure.include=llmproviders",
					"llm.resilience.providers.openai.type=openai",
					"llm.resilience.providers.anthropic.type=anthropic" })
	class AsItIsByDefault extends OverHttp {

		@Test
		void reads() {
			assertThat(json(PATH + "/default").<String>read("$.retries")).isEqualTo("ON");
		}

		@Test
		void showsOtherLayersThatRetryAtTheEntryWhoseCallsTheyMultiplyMost() {
			assertThat(json(PATH).<List<Object>>read("$.providers[*].layers[*]")).containsExactly(Map.of("kind",
					"HTTP_CLIENT", "name", "clientHttpRequestFactoryBuilder", "tries", 2, "requests", 18));
		}

		@Test
		void doesNotWrite() {
			assertThat(post(PATH + "/default", "{\"retries\":\"OFF\"}").status()).isEqualTo(405);
			assertThat(json(PATH + "/default").<String>read("$.retries")).isEqualTo("ON");
		}

	}

	@Nested
	@SpringBootTest(classes = Application.class, webEnvironment = WebEnvironment.RANDOM_PORT, properties = {
			"llm.resilience.providers.openai.type=openai", "llm.resilience.providers.anthropic.type=anthropic" })
	class NotExposed extends OverHttp {

		@Test
		void isNotThere() {
			assertThat(get(PATH).status()).isEqualTo(404);
		}

	}

	@LlmRetry(provider = "openai", maxAttempts = 2, idempotent = false)
	@Retention(RetentionPolicy.RUNTIME)
	@interface Careful {

	}

	static class Chat {

		@LlmRetry(provider = "openai", maxAttempts = 2, timeout = "20s", attemptTimeout = "5s", idempotent = false,
				priority = Priority.HIGH, failover = "anthropic")
		String onMethod(String prompt) {
			return prompt;
		}

		@Careful
		String careful(String prompt) {
			return prompt;
		}

		@LlmRetry(provider = "openai", recovery = "once")
		void charge(int cents) {
		}

	}

	@LlmRetry("openai")
	static class Translator {

		void onClass() {
		}

	}

	@LlmRetry("openai")
	interface Api {

		void onInterface();

	}

	interface Single {

		@LlmRetry("openai")
		void onInterfaceMethod(List<URI> images);

	}

	static class Client implements Api, Single {

		@Override
		public void onInterface() {
		}

		@Override
		public void onInterfaceMethod(List<URI> images) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Application extends StoppedApplication {

		@Bean
		Chat chat() {
			return new Chat();
		}

		@Bean
		Translator translator() {
			return new Translator();
		}

		@Bean
		Client client() {
			return new Client();
		}

		@Bean
		RecoveryStrategy once() {
			return (run) -> Recovery.fail();
		}

	}

}
