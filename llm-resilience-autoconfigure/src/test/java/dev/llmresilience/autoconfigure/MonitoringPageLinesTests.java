package dev.llmresilience.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmCallReport.Attempt;
import dev.llmresilience.LlmCallReport.WaitCause;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.breaker.BreakerTransition;
import dev.llmresilience.breaker.LastFailure;
import dev.llmresilience.breaker.QuotaTransition;
import dev.llmresilience.docs.Page;
import dev.llmresilience.engine.FailoverEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The log lines that docs/monitoring.md shows, and their levels.
 */
@ExtendWith(OutputCaptureExtension.class)
class MonitoringPageLinesTests {

	private static final Instant START = Instant.parse("2026-10-01T00:00:00Z");

	@Test
	void theLinesOfCallsAreThose(CapturedOutput output) {
		CallReports reports = new CallReports(List.of(), (event) -> {
		});
		reports.onCall(new LlmCallReport("anthropic",
				List.of(new Attempt(FailureKind.SERVER_ERROR, 500, "api_error", Duration.ZERO, WaitCause.NONE,
						Duration.ZERO),
						new Attempt(null, 0, null, Duration.ofMillis(212), WaitCause.BACKOFF, Duration.ofMillis(3))),
				null, null, Duration.ofMillis(236)));
		reports.onCall(new LlmCallReport(
				"anthropic", List.of(new Attempt(FailureKind.RATE_LIMITED, 429, "rate_limit_error", Duration.ZERO,
						WaitCause.NONE, Duration.ZERO)),
				GiveUpReason.RETRY_AFTER, START.plusSeconds(600), Duration.ofMillis(9)));
		assertThat(logged(output, "dev.llmresilience.calls")).containsExactlyElementsOf(shown("calls", "INFO", "WARN"));
	}

	@Test
	void theLinesOfGuardsAreThose(CapturedOutput output) {
		GuardEvents events = new GuardEvents((event) -> {
		});
		events.onTransition(new BreakerTransition("anthropic", BreakerState.CLOSED, BreakerState.OPEN, START,
				START.plusMillis(31400), new LastFailure(FailureKind.OVERLOADED, 529, START)));
		events.onTransition(new QuotaTransition("anthropic", true, "enforced_spend_limit_reached", null,
				START.plusSeconds(300), START));
		events.onTransition(new QuotaTransition("anthropic", false, null, null, null, START));
		events
			.onFailover(new FailoverEvent("anthropic", "openai", GiveUpReason.BREAKER, FailureKind.OVERLOADED, START));
		assertThat(logged(output, "dev.llmresilience.guards"))
			.containsExactlyElementsOf(shown("guards", "WARN", "WARN", "WARN", "INFO"));
	}

	private static List<String> logged(CapturedOutput output, String logger) {
		Pattern line = Pattern.compile("(INFO|WARN|DEBUG|ERROR) .*?" + Pattern.quote(logger) + " +(?:--|:) (.*)");
		return output.toString()
			.lines()
			.map(line::matcher)
			.filter(Matcher::find)
			.map((found) -> found.group(1) + " " + found.group(2))
			.toList();
	}

	/** The lines of the page with the levels that its table gives them. */
	private static List<String> shown(String what, String... levels) {
		List<String> lines = Page.of("monitoring.md").block("lines of " + what).lines().toList();
		assertThat(lines).hasSameSizeAs(levels);
		return IntStream.range(0, levels.length).mapToObj((line) -> levels[line] + " " + lines.get(line)).toList();
	}

}
