package dev.llmresilience.docs.testing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmCallReport.Attempt;
import dev.llmresilience.test.VirtualTime;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.annotation.DirtiesContext.ClassMode;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.HttpServerErrorException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.times;

/**
 * The first example of the page on testing.
 */
@SpringBootTest(properties = "llm.resilience.providers.anthropic.retry.max-attempts=4")
@DirtiesContext(classMode = ClassMode.BEFORE_EACH_TEST_METHOD)
class SummariesTests {

	@Autowired
	private Summaries summaries;

	@Autowired
	private VirtualTime time;

	@MockitoBean
	private Model model;

	@Test
	void aRateLimitIsWaitedForAsLongAsTheServerAsks() {
		given(this.model.ask("text")).willThrow(rateLimited("30")).willReturn("summary");
		List<String> answers = new ArrayList<>();
		this.time.start(() -> answers.add(this.summaries.summarise("text")));
		this.time.run();
		assertThat(answers).containsExactly("summary");
		assertThat(this.time.elapsed()).isBetween(Duration.ofSeconds(30), Duration.ofSeconds(31));
	}

	@Test
	void aBadRequestIsNotRetried() {
		given(this.model.ask("text")).willThrow(new HttpClientErrorException(HttpStatus.BAD_REQUEST));
		this.time.start(() -> assertThatExceptionOfType(HttpClientErrorException.class)
			.isThrownBy(() -> this.summaries.summarise("text")));
		this.time.run();
		then(this.model).should(times(1)).ask("text");
		assertThat(this.time.elapsed()).isZero();
	}

	@Test
	void theReportSaysWhatWasTried() {
		given(this.model.ask("text")).willThrow(new HttpServerErrorException(HttpStatus.INTERNAL_SERVER_ERROR));
		List<LlmCallReport> reports = new ArrayList<>();
		this.time.start(() -> {
			Throwable thrown = catchThrowable(() -> this.summaries.summarise("text"));
			reports.add(LlmCallReport.find(thrown));
		});
		this.time.run();
		LlmCallReport report = reports.get(0);
		assertThat(report.reason()).isEqualTo(GiveUpReason.ATTEMPTS);
		assertThat(report.attempts()).extracting(Attempt::kind).containsOnly(FailureKind.SERVER_ERROR).hasSize(4);
	}

	static HttpClientErrorException rateLimited(String retryAfter) {
		HttpHeaders headers = new HttpHeaders();
		headers.add(HttpHeaders.RETRY_AFTER, retryAfter);
		return HttpClientErrorException.create(HttpStatus.TOO_MANY_REQUESTS, "", headers, new byte[0], null);
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class SimulatedTime {

		@Bean
		VirtualTime time() {
			return new VirtualTime(42);
		}

	}

}
