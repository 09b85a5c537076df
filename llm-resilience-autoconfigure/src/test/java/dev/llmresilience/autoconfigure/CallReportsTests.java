package dev.llmresilience.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallListener;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmResilience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.client.HttpServerErrorException;
import org.springframework.web.client.RestClientResponseException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who hears of a call that needed a retry, or failed: the log, listeners, and whoever
 * listens to application events.
 */
@ExtendWith(OutputCaptureExtension.class)
class CallReportsTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(LlmResilienceAutoConfiguration.class))
		.withPropertyValues("llm.resilience.providers.anthropic.retry.base-delay=1ms",
				"llm.resilience.providers.anthropic.retry.max-attempts=2",
				"llm.resilience.providers.anthropic.breaker.failure-threshold=2")
		.withBean(Heard.class);

	@Test
	void aCleanCallIsHeardOfByNobody(CapturedOutput output) {
		this.runner.run((context) -> {
			call(context, List.of());
			assertThat(lines(output)).isEmpty();
			assertThat(context.getBean(Heard.class).reports).isEmpty();
		});
	}

	@Test
	void aCallThatNeededARetryIsOneLineAndOneReport(CapturedOutput output) {
		this.runner.run((context) -> {
			call(context, List.of(status(500)));
			assertThat(lines(output)).singleElement()
				.asString()
				.contains("INFO")
				.contains("Call to 'anthropic' succeeded, attempts: 2 [SERVER_ERROR 500, OK");
			Heard heard = context.getBean(Heard.class);
			assertThat(heard.reports).singleElement().satisfies((report) -> {
				assertThat(report.reason()).isNull();
				assertThat(report.attempts().get(0).kind()).isEqualTo(FailureKind.SERVER_ERROR);
			});
			assertThat(heard.events).containsExactlyElementsOf(heard.reports);
		});
	}

	@ParameterizedTest(name = "{0}: {1}")
	@CsvSource({ "500, WARN, ATTEMPTS", "400, WARN, NOT_RETRYABLE", "401, WARN, NOT_RETRYABLE" })
	void whatTheProviderDidToACallIsALineForThoseWhoRunTheApplication(int status, String level, GiveUpReason reason,
			CapturedOutput output) {
		this.runner.run((context) -> {
			call(context, List.of(status(status), status(status)));
			assertThat(lines(output)).singleElement().asString().contains(level, "given up: " + reason);
			assertThat(context.getBean(Heard.class).reports).extracting(LlmCallReport::reason).containsExactly(reason);
		});
	}

	@Test
	void aBugOfTheCallersOwnIsNoLineButAReport(CapturedOutput output) {
		this.runner.run((context) -> {
			call(context, List.of(new IllegalStateException("mine")));
			assertThat(lines(output)).isEmpty();
			assertThat(context.getBean(Heard.class).reports).extracting(LlmCallReport::lastKind)
				.containsExactly(FailureKind.APPLICATION);
		});
	}

	@Test
	void whatAGuardRefusesIsNoLineButAReport(CapturedOutput output) {
		this.runner.run((context) -> {
			call(context, List.of(status(500), status(500)));
			int lines = lines(output).size();
			call(context, List.of());
			assertThat(lines(output)).hasSize(lines);
			assertThat(context.getBean(Heard.class).reports).last().satisfies((report) -> {
				assertThat(report.reason()).isEqualTo(GiveUpReason.BREAKER);
				assertThat(report.attempts()).isEmpty();
			});
		});
	}

	@Test
	void aListenerThatFailsCostsNeitherTheCallNorTheOtherListeners(CapturedOutput output) {
		this.runner.withBean("failing", LlmCallListener.class, () -> (report) -> {
			throw new IllegalStateException("listener");
		}).run((context) -> {
			assertThat(call(context, List.of(status(500)))).isEqualTo("answer");
			assertThat(context.getBean(Heard.class).reports).hasSize(1);
			assertThat(context.getBean(Heard.class).events).hasSize(1);
			assertThat(output).contains("A listener failed on: Call to 'anthropic' succeeded");
		});
	}

	private static RestClientResponseException status(int status) {
		return (status >= 500) ? new HttpServerErrorException(HttpStatusCode.valueOf(status))
				: new RestClientResponseException("status", HttpStatusCode.valueOf(status), "", null, null, null);
	}

	private static String call(ApplicationContext context, List<? extends RuntimeException> failures) {
		List<RuntimeException> left = new ArrayList<>(failures);
		try {
			return context.getBean(LlmResilience.class).call("anthropic", () -> {
				if (!left.isEmpty()) {
					throw left.remove(0);
				}
				return "answer";
			});
		}
		catch (Exception ex) {
			return "failed";
		}
	}

	private static List<String> lines(CapturedOutput output) {
		return output.getOut().lines().filter((line) -> line.contains("dev.llmresilience.calls")).toList();
	}

	static class Heard implements LlmCallListener {

		private final List<LlmCallReport> reports = new ArrayList<>();

		private final List<LlmCallReport> events = new ArrayList<>();

		@Override
		public void onCall(LlmCallReport report) {
			this.reports.add(report);
		}

		@EventListener
		public void on(LlmCallReport report) {
			this.events.add(report);
		}

	}

}
