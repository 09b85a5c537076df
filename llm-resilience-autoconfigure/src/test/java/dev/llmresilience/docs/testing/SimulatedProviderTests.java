package dev.llmresilience.docs.testing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.llmresilience.CircuitOpenException;
import dev.llmresilience.test.VirtualTime;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatusCode;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.annotation.DirtiesContext.ClassMode;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.HttpServerErrorException;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.CompletableFuture.failedFuture;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willReturn;

/**
 * The other examples of the page on testing.
 */
class SimulatedProviderTests {

	static HttpClientErrorException rateLimited(String retryAfter) {
		return SummariesTests.rateLimited(retryAfter);
	}

	@Nested
	@SpringBootTest(properties = { "llm.resilience.providers.anthropic.limiter.requests-per-minute=600",
			"llm.resilience.providers.anthropic.limiter.burst=20" })
	@DirtiesContext(classMode = ClassMode.BEFORE_EACH_TEST_METHOD)
	@Import(SummariesTests.SimulatedTime.class)
	class Blocking {

		@Autowired
		private Summaries summaries;

		@Autowired
		private VirtualTime time;

		@MockitoBean
		private Model model;

		@Test
		void whenTheProviderIsBackACallGetsThrough() {
			given(this.model.ask("text")).willThrow(new HttpServerErrorException(HttpStatusCode.valueOf(529)));
			this.time.start(() -> {
				for (int i = 0; i < 2; i++) {
					assertThatExceptionOfType(HttpServerErrorException.class)
						.isThrownBy(() -> this.summaries.summarise("text"));
				}
				assertThatExceptionOfType(CircuitOpenException.class)
					.isThrownBy(() -> this.summaries.summarise("text"));
			});
			this.time.run();
			willReturn("summary").given(this.model).ask("text");
			this.time.runFor(Duration.ofSeconds(40));
			this.time.start(() -> assertThat(this.summaries.summarise("text")).isEqualTo("summary"));
			this.time.run();
		}

		@Test
		void aHundredCallersGetThroughAtTheProvidersOwnPace() {
			RateLimitedModel provider = new RateLimitedModel(this.time);
			given(this.model.ask(any())).willAnswer((call) -> provider.ask(call.getArgument(0)));
			List<String> answers = new ArrayList<>();
			for (int i = 0; i < 100; i++) {
				this.time.start(() -> answers.add(this.summaries.summarise("text")));
			}
			this.time.run();
			assertThat(answers).hasSize(100);
			assertThat(provider.rejected).isZero();
			assertThat(this.time.elapsed()).isLessThan(Duration.ofSeconds(9));
		}

	}

	@Nested
	@SpringBootTest(properties = "llm.resilience.providers.anthropic.type=anthropic")
	@DirtiesContext(classMode = ClassMode.BEFORE_EACH_TEST_METHOD)
	@Import(SummariesTests.SimulatedTime.class)
	class WithoutAThread {

		@Autowired
		private AsyncSummaries summaries;

		@Autowired
		private VirtualTime time;

		@MockitoBean
		private Model model;

		@Test
		void aFutureCompletesAfterItsRetry() {
			given(this.model.askAsync("text")).willAnswer((call) -> failedFuture(rateLimited("30")))
				.willAnswer((call) -> completedFuture("summary"));
			CompletableFuture<String> answer = this.summaries.summariseAsync("text");
			assertThat(answer).isNotDone();
			this.time.runFor(Duration.ofSeconds(31));
			assertThat(answer).isCompletedWithValue("summary");
		}

		@Test
		void aMonoCompletesAfterItsRetry() {
			given(this.model.askMono("text")).willAnswer((call) -> Mono.error(rateLimited("30")))
				.willAnswer((call) -> Mono.just("summary"));
			CompletableFuture<String> answer = this.summaries.summariseMono("text").toFuture();
			this.time.runFor(Duration.ofSeconds(31));
			assertThat(answer).isCompletedWithValue("summary");
		}

	}

	/* The model takes time, and takes only so much. */

	static class RateLimitedModel implements Model {

		private final VirtualTime time;

		private double tokens = 20;

		private long refilled;

		int rejected;

		RateLimitedModel(VirtualTime time) {
			this.time = time;
		}

		@Override
		public String ask(String text) {
			this.time.sleep(Duration.ofMillis(40));
			this.tokens = Math.min(20, this.tokens + (this.time.nanoTime() - this.refilled) / 1e9 * 10);
			this.refilled = this.time.nanoTime();
			if (this.tokens < 1) {
				this.rejected++;
				throw rateLimited("1");
			}
			this.tokens--;
			return "summary";
		}

	}

}
