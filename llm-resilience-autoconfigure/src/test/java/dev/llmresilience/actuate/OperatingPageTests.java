package dev.llmresilience.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import dev.llmresilience.CircuitOpenException;
import dev.llmresilience.DeadlineExceededException;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.QuotaExhaustedException;
import dev.llmresilience.RateLimitWaitException;
import dev.llmresilience.ShutdownException;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.autoconfigure.LlmResilienceProperties;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Mode;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.docs.Page;
import dev.llmresilience.engine.CallMonitor.Intervention;
import dev.llmresilience.web.ProblemDetailsAdvice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * What docs/operating.md says.
 */
@SpringBootTest(classes = StoppedApplication.class, webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "management.endpoints.web.exposure.include=health,llmbreakers,llmproviders",
				"management.endpoint.llmbreakers.access=unrestricted",
				"management.endpoint.llmproviders.access=unrestricted",
				"llm.resilience.providers.anthropic.type=anthropic" })
class OperatingPageTests extends OverHttp {

	private static final Pattern COMMAND = Pattern
		.compile("curl (?:-X POST )?localhost:8080(\\S+)(?:[^'\\n]*(?:\\\\\\n)?"
				+ "[^'\\n]*'content-type: application/json' (?:\\\\\\n\\s*)?-d '([^']*)')?");

	private static final Page PAGE = Page.of("operating.md");

	@Test
	void everyCommandWorks() {
		List<MatchResult> commands = COMMAND.matcher(PAGE.text()).results().toList();
		assertThat(commands).hasSize(4).hasSize(PAGE.text().split("curl ", -1).length - 1);
		for (MatchResult command : commands) {
			String body = command.group(2);
			Answer answer = (body != null) ? post(command.group(1), body) : get(command.group(1));
			assertThat(answer.status()).as(command.group()).isEqualTo(200);
		}
	}

	@Test
	void everyStateOfABreakerIsExplained() {
		assertThat(rows("what to do", 3).map((row) -> row.get(0).replace("`", "")))
			.startsWith(Arrays.stream(BreakerState.values()).map(Enum::name).toArray(String[]::new));
	}

	@Test
	void everythingThatModeObserveCountsIsExplained() {
		assertThat(rows("look at", 3).map((row) -> row.get(0).replace("`", "")))
			.containsExactly(Arrays.stream(Intervention.values()).map(Enum::name).toArray(String[]::new));
	}

	@Test
	void theModeIsSwitchedOnAsThePageSays() {
		assertThat(PAGE.text()).contains("llm.resilience.mode: observe\n").contains("`" + GiveUpReason.OBSERVED + "`");
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(LlmResilienceAutoConfiguration.class))
			.withPropertyValues("llm.resilience.mode: observe")
			.run((context) -> assertThat(context.getBean(LlmResilienceProperties.class).mode())
				.isEqualTo(Mode.OBSERVE));
	}

	private static Stream<Arguments> refusals() {
		Instant now = new StoppedClock().now();
		return Stream.of(arguments(0, new CircuitOpenException("p", now)),
				arguments(1, new QuotaExhaustedException("p", null, now)),
				arguments(2, new RateLimitWaitException("p", Duration.ZERO, "max-wait", now)),
				arguments(3, RateLimitWaitException.never("p", "tokens-per-minute")),
				arguments(4, new DeadlineExceededException("p")), arguments(5, new ShutdownException("p", null)));
	}

	@ParameterizedTest
	@MethodSource("refusals")
	void everyRefusalIsAnsweredAsTheTableSays(int index, LlmCallRefusedException refusal) {
		List<String> row = rows("`Retry-After`", 4).toList().get(index);
		ResponseEntity<ProblemDetail> answer = new ProblemDetailsAdvice(new StoppedClock()).handle(refusal);
		assertThat(row.get(0)).startsWith("`" + refusal.getClass().getSimpleName() + "`");
		assertThat(row.get(1)).isEqualTo(String.valueOf(answer.getStatusCode().value()));
		assertThat(row.get(2)).isEqualTo("`" + refusal.reason() + "`");
		assertThat(row.get(3).startsWith("none")).isEqualTo(answer.getHeaders().get(HttpHeaders.RETRY_AFTER) == null);
	}

	/** The rows of the tables whose last column has a title. */
	private static Stream<List<String>> rows(String title, int columns) {
		return PAGE.rowsFrom("| " + title + " |\n").stream().peek((row) -> assertThat(row).hasSize(columns));
	}

}
