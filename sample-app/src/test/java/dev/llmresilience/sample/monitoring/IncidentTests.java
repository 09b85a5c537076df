package dev.llmresilience.sample.monitoring;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport.WaitCause;
import dev.llmresilience.breaker.BreakerState;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.test.annotation.DirtiesContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * An incident must be readable in a real scrape: what broke, who waited for what, what
 * was refused, and what came back.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "spring.ai.anthropic.api-key=embedded", "spring.ai.openai.api-key=embedded",
				"sample.provider.requests-per-second=1000", "sample.provider.burst=1000",
				"sample.provider.headers=false", "llm.resilience.providers.default.retry.base-delay=5ms",
				"llm.resilience.providers.default.retry.rate-limit-base-delay=20ms",
				"llm.resilience.providers.default.retry.retry-after-spread=1ms",
				"llm.resilience.providers.anthropic.limiter.mode=fixed",
				"llm.resilience.providers.anthropic.limiter.requests-per-minute=1200",
				"llm.resilience.providers.anthropic.limiter.burst=5",
				"llm.resilience.providers.anthropic.breaker.failure-threshold=5",
				"llm.resilience.providers.anthropic.breaker.open-duration=3s",
				"management.endpoint.llmproviders.access=unrestricted" })
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@DirtiesContext
class IncidentTests {

	private static final Map<String, Set<String>> VALUES = Map.of("outcome", names(GiveUpReason.values(), "SUCCESS"),
			"kind", names(FailureKind.values(), "SUCCESS"), "cause", names(WaitCause.values()), "state",
			names(BreakerState.values()));

	private Map<String, Scrape> scrapes = Map.of();

	@BeforeAll
	void play(@Autowired ServletWebServerApplicationContext context) {
		this.scrapes = new Incident(Objects.requireNonNull(context.getWebServer()).getPort()).play();
		System.out.println(after("end").ofLibrary());
	}

	@Test
	void a_burst_shows_its_rejections_and_who_queued() {
		assertThat(after("burst").value("llm_attempts_total", "provider", "anthropic", "kind", "RATE_LIMITED"))
			.isEqualTo(4);
		assertThat(outcome("burst", "SUCCESS")).isEqualTo(13);
		assertThat(after("burst").value("llm_retry_wait_seconds_count", "provider", "anthropic", "cause", "LIMITER"))
			.isEqualTo(4);
		assertThat(after("burst").value("llm_limiter_wait_seconds_count", "provider", "anthropic"))
			.isGreaterThanOrEqualTo(4);
		assertThat(after("burst").value("llm_limiter_waiting", "provider", "anthropic")).isZero();
		assertThat(after("burst").value("llm_limiter_rate", "provider", "anthropic", "dimension", "REQUESTS"))
			.isEqualTo(1200);
	}

	@Test
	void retries_that_a_limiter_paces_cost_the_budget_nothing_and_others_do() {
		assertThat(after("burst").value("llm_budget_tokens", "provider", "anthropic")).isEqualTo(50);
		assertThat(after("outage").value("llm_budget_tokens", "provider", "anthropic")).isBetween(44.0, 49.0);
	}

	@Test
	void troubles_show_what_was_waited_for_and_whose_fault_it_was() {
		assertThat(after("troubles").value("llm_attempts_total", "provider", "anthropic", "kind", "SERVER_ERROR"))
			.isOne();
		assertThat(after("troubles").value("llm_attempts_total", "provider", "anthropic", "kind", "INVALID_REQUEST"))
			.isOne();
		assertThat(after("troubles").value("llm_retry_wait_seconds_count", "provider", "anthropic", "cause", "BACKOFF"))
			.isOne();
		assertThat(after("troubles").value("llm_retry_wait_seconds_count", "provider", "anthropic", "cause", "HINT"))
			.isOne();
		assertThat(after("troubles").value("llm_retry_wait_seconds_sum", "provider", "anthropic", "cause", "HINT"))
			.isBetween(1.0, 1.1);
		assertThat(outcome("troubles", "NOT_RETRYABLE")).isOne();
	}

	@Test
	void an_outage_shows_the_open_breaker_and_whom_it_turned_away() {
		assertThat(state("burst", "CLOSED")).isOne();
		assertThat(state("outage", "OPEN")).isOne();
		assertThat(state("outage", "CLOSED")).isZero();
		assertThat(after("outage").value("llm_attempts_total", "provider", "anthropic", "kind", "OVERLOADED"))
			.isEqualTo(6);
		// The call whose retry met it, one refused at once, and one that failed over.
		assertThat(after("outage").value("llm_breaker_rejected_total", "provider", "anthropic")).isEqualTo(3);
		assertThat(outcome("outage", "BREAKER")).isEqualTo(3);
		assertThat(after("outage").value("llm_failovers_total", "provider", "anthropic", "target", "openai")).isOne();
		assertThat(after("outage").value("llm_calls_seconds_count", "provider", "openai", "outcome", "SUCCESS"))
			.isOne();
	}

	@Test
	void a_recovery_takes_one_trial_call() {
		assertThat(state("recovery", "CLOSED")).isOne();
		assertThat(state("recovery", "OPEN")).isZero();
		assertThat(after("recovery").sum("llm_attempts_total", "provider", "anthropic"))
			.isEqualTo(after("outage").sum("llm_attempts_total", "provider", "anthropic") + 1);
	}

	@Test
	void a_spend_cap_shows_until_somebody_clears_it() {
		assertThat(after("recovery").value("llm_quota_latched", "provider", "anthropic")).isZero();
		assertThat(after("cap").value("llm_quota_latched", "provider", "anthropic")).isOne();
		assertThat(after("cap").value("llm_attempts_total", "provider", "anthropic", "kind", "QUOTA_EXHAUSTED"))
			.isOne();
		assertThat(outcome("cap", "QUOTA")).isOne();
		assertThat(after("end").value("llm_quota_latched", "provider", "anthropic")).isZero();
		assertThat(outcome("end", "SUCCESS")).isEqualTo(outcome("cap", "SUCCESS") + 1);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource
	void every_query_names_metrics_and_labels_of_the_scrape(String where, String query, List<String> shown) {
		PromQl promQl = new PromQl(query);
		assertThat(promQl.problems(after("end").labelsByName(), VALUES)).isEmpty();
		assertThat(promQl.labelsOfResult()).containsAll(shown);
	}

	static List<Arguments> every_query_names_metrics_and_labels_of_the_scrape() {
		List<Arguments> queries = new ArrayList<>();
		Dashboard.load()
			.queries()
			.forEach((query) -> queries.add(arguments(query.where(), query.text(), query.shown())));
		AlertRules.load().rules().forEach((rule) -> queries.add(arguments(rule.name(), rule.query(), rule.shown())));
		assertThat(queries).hasSizeGreaterThan(20);
		return queries;
	}

	@Test
	void percentiles_reach_as_far_as_calls_may_take() {
		List<String> buckets = after("end").samples()
			.stream()
			.filter((sample) -> sample.name().equals("llm_calls_seconds_bucket"))
			.map(Scrape.Sample::labels)
			.filter((labels) -> labels
				.equals(Map.of("provider", "anthropic", "outcome", "SUCCESS", "le", String.valueOf(labels.get("le")))))
			.map((labels) -> String.valueOf(labels.get("le")))
			.toList();
		assertThat(buckets).hasSizeBetween(85, 95).contains("600.0", "+Inf");
	}

	@Test
	void every_meter_of_the_scrape_is_on_the_dashboard() {
		String queries = Dashboard.load().queries().toString();
		assertThat(after("end").labelsByName().keySet()).filteredOn((name) -> name.startsWith("llm_"))
			.map((name) -> name.replaceFirst("_seconds_(count|sum|max|bucket)$", "_seconds_"))
			.allSatisfy((name) -> assertThat(queries).contains(name));
	}

	private double outcome(String after, String outcome) {
		return after(after).value("llm_calls_seconds_count", "provider", "anthropic", "outcome", outcome);
	}

	private double state(String after, String state) {
		return after(after).value("llm_breaker_state", "provider", "anthropic", "state", state);
	}

	private static Set<String> names(Enum<?>[] constants, String... more) {
		return Stream.concat(Stream.of(constants).map(Enum::name), Stream.of(more)).collect(Collectors.toSet());
	}

	private Scrape after(String what) {
		return Objects.requireNonNull(this.scrapes.get(what));
	}

}
