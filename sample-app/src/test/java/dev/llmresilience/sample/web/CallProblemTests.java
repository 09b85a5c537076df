package dev.llmresilience.sample.web;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import dev.llmresilience.CircuitOpenException;
import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmCallReport.Attempt;
import dev.llmresilience.LlmCallReport.WaitCause;
import dev.llmresilience.RateLimitWaitException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CallProblem}.
 */
class CallProblemTests {

	private static final Instant NOW = Instant.parse("2026-10-01T00:00:00Z");

	@Test
	void a_failed_call_tells_kind_attempts_reason_and_when_to_come_back() {
		Attempt attempt = new Attempt(FailureKind.RATE_LIMITED, 429, null, Duration.ZERO, WaitCause.NONE,
				Duration.ZERO);
		LlmCallReport report = new LlmCallReport("anthropic", List.of(attempt, attempt), GiveUpReason.RETRY_AFTER,
				NOW.plusMillis(1500), Duration.ZERO);
		ResponseEntity<ProblemDetail> response = CallProblem.of(report).toResponse(NOW);
		assertThat(response.getStatusCode().value()).isEqualTo(429);
		assertThat(response.getHeaders().getFirst("Retry-After")).isEqualTo("2");
		assertThat(properties(response)).containsExactlyInAnyOrderEntriesOf(Map.of("kind", "RATE_LIMITED", "attempts",
				2, "reason", GiveUpReason.RETRY_AFTER, "retryAt", NOW.plusMillis(1500)));
	}

	@Test
	void a_refused_call_tells_that_no_attempt_was_made() {
		ResponseEntity<ProblemDetail> response = CallProblem
			.of(new CircuitOpenException("anthropic", NOW.plusSeconds(30)), null)
			.toResponse(NOW);
		assertThat(response.getStatusCode().value()).isEqualTo(503);
		assertThat(response.getHeaders().getFirst("Retry-After")).isEqualTo("30");
		assertThat(properties(response)).containsEntry("kind", "REFUSED").containsEntry("attempts", 0);
	}

	@Test
	void a_call_that_the_limiter_refused_is_a_429() {
		assertThat(
				CallProblem.of(new RateLimitWaitException("anthropic", Duration.ofSeconds(9), "a-property", NOW), null)
					.status()
					.value())
			.isEqualTo(429);
	}

	@Test
	void a_time_that_is_not_known_or_over_makes_no_negative_header() {
		assertThat(CallProblem.of(new CircuitOpenException("anthropic", null), null).toResponse(NOW).getHeaders())
			.satisfies((headers) -> assertThat(headers.containsHeader("Retry-After")).isFalse());
		assertThat(CallProblem.of(new CircuitOpenException("anthropic", NOW.minusSeconds(5)), null)
			.toResponse(NOW)
			.getHeaders()
			.getFirst("Retry-After")).isEqualTo("0");
	}

	@ParameterizedTest
	@CsvSource({ "OVERLOADED, 503", "QUOTA_EXHAUSTED, 503", "SERVER_ERROR, 502", "CONNECTION, 502", "TIMEOUT, 504",
			"INVALID_REQUEST, 400", "APPLICATION, 500" })
	void the_kind_decides_the_status(FailureKind kind, int status) {
		assertThat(CallProblem.of(report(kind)).status().value()).isEqualTo(status);
	}

	@ParameterizedTest
	@EnumSource
	void every_kind_is_an_error(FailureKind kind) {
		assertThat(CallProblem.of(report(kind)).status().isError()).isTrue();
	}

	private static LlmCallReport report(FailureKind kind) {
		return new LlmCallReport("anthropic",
				List.of(new Attempt(kind, 0, null, Duration.ZERO, WaitCause.NONE, Duration.ZERO)),
				GiveUpReason.NOT_RETRYABLE, null, Duration.ZERO);
	}

	private static Map<String, Object> properties(ResponseEntity<ProblemDetail> response) {
		ProblemDetail problem = response.getBody();
		Map<String, Object> properties = (problem != null) ? problem.getProperties() : null;
		return (properties != null) ? properties : Map.of();
	}

}
