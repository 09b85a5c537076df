package dev.llmresilience.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.read.ListAppender;
import com.sun.net.httpserver.HttpServer;
import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallListener;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmResilience;
import dev.llmresilience.LlmResultException;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.ReactiveLlmResilience;
import dev.llmresilience.breaker.BreakerTransition;
import dev.llmresilience.breaker.QuotaTransition;
import dev.llmresilience.engine.FailoverEvent;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Nothing of what a call carries shows where operators look: not the key, the prompt, the
 * answer, the headers of a response or what an error says. Whatever of the provider's own
 * words is shown must look like a code.
 */
@SpringBootTest(classes = SecretsTests.Application.class, webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "management.endpoints.web.exposure.include=health,metrics,llmbreakers,llmproviders",
				"management.endpoint.health.show-details=always", "llm.resilience.web.problem-details=true",
				"llm.resilience.providers.anthropic.type=anthropic", "llm.resilience.providers.openai.type=openai",
				"llm.resilience.providers.backup.type=generic", "llm.resilience.providers.other.type=anthropic",
				"llm.resilience.providers.gemini.type=google", "llm.resilience.providers.anthropic.account=one",
				"llm.resilience.providers.default.retry.base-delay=1ms",
				"llm.resilience.providers.default.retry.rate-limit-base-delay=1ms",
				"llm.resilience.providers.default.retry.retry-after-spread=0",
				"llm.resilience.providers.default.breaker.failure-threshold=6" })
@DirtiesContext
class SecretsTests {

	private static final String CANARY = "canary-7f3a";

	private static final String KEY = CANARY + "-key";

	private static final String PROMPT = CANARY + "-prompt";

	private static final String ANSWER = CANARY + "-answer";

	/** Says so in every field that an error has. */
	private static final String ERROR = """
			{"type":"error","error":{"type":"%1$s-type","code":"%1$s-code","message":"%1$s-message",
			 "status":"%1$s-status","param":"%1$s-param","details":{"error_code":"%1$s-detail"}},"message":"%1$s-outer",
			 "request_id":"%1$s-request"}""".formatted(CANARY);

	private static final String SPEND_CAP = """
			{"type":"error","error":{"type":"%1$s-type","message":"%1$s-message",
			 "details":{"error_code":"enforced_spend_limit_reached"}},"request_id":"%1$s-request"}""".formatted(CANARY);

	/** Google's form: nothing in it is a code that is known. */
	private static final String DAILY_QUOTA = """
			{"error":{"code":429,"status":"%1$s-status","message":"%1$s-message","details":[
			 {"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"%1$s-PerDay"}]},
			 {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"%1$s-reason"}]}}""".formatted(CANARY);

	private static final Provider provider = new Provider();

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	private final Logger logger = (Logger) LoggerFactory.getLogger("dev.llmresilience");

	@LocalServerPort
	private int port;

	@Autowired
	private Chat chat;

	@Autowired
	private LlmResilience resilience;

	@Autowired
	private ReactiveLlmResilience reactive;

	@Autowired
	private Witness witness;

	@Autowired
	private MeterRegistry meters;

	@BeforeEach
	void listen() {
		this.log.start();
		this.logger.setLevel(Level.DEBUG);
		this.logger.addAppender(this.log);
	}

	@AfterEach
	void listenNoMore() {
		this.logger.detachAppender(this.log);
		this.logger.setLevel(null);
	}

	@AfterAll
	static void stop() {
		provider.server.stop(0);
	}

	@Test
	void nothingThatACallCarriesIsShownAnywhere() {
		List<Throwable> thrown = new ArrayList<>();
		successes();
		thrown.addAll(failures());
		thrown.addAll(streams());
		thrown.addAll(outage());
		thrown.addAll(spendCap());
		everythingHappened(thrown);
		assertThat(this.witness.seen).noneMatch((seen) -> seen.contains(CANARY));
		assertThat(thrown.stream().flatMap((each) -> ours(each).stream())).isNotEmpty()
			.noneMatch((text) -> text.contains(CANARY));
		assertThat(this.log.list.stream().map(SecretsTests::text)).isNotEmpty()
			.noneMatch((line) -> line.contains(CANARY));
		assertThat(this.meters.getMeters()).noneMatch((meter) -> meter.getId().toString().contains(CANARY));
		for (String path : List.of("/actuator/llmbreakers", "/actuator/llmbreakers/anthropic", "/actuator/llmproviders",
				"/actuator/llmproviders/gemini", "/actuator/health", "/actuator/metrics", "/ask")) {
			assertThat(get(path)).as(path).contains("{").doesNotContain(CANARY);
		}
	}

	private void successes() {
		assertThat(this.chat.ask(PROMPT)).isEqualTo(ANSWER);
		assertThat(this.chat.askUnderKey(PROMPT)).isEqualTo(ANSWER);
		provider.script(500, ERROR).script(429, ERROR).script(529, ERROR);
		assertThat(this.chat.ask(PROMPT)).as("after retries").isEqualTo(ANSWER);
	}

	private List<Throwable> failures() {
		List<Throwable> thrown = new ArrayList<>();
		for (int status : new int[] { 400, 401, 404, 413, 422 }) {
			provider.script(status, ERROR);
			Throwable failure = catchThrowable(() -> this.chat.ask(PROMPT));
			assertThat(failure).as("the client's own, where the canary is to be").hasMessageContaining(CANARY);
			thrown.add(failure);
		}
		provider.script(400, ERROR);
		thrown.add(catchThrowable(() -> this.resilience
			.callAsync("openai", () -> CompletableFuture.supplyAsync(() -> provider.ask(PROMPT)))
			.toCompletableFuture()
			.join()));
		thrown.add(catchThrowable(() -> this.resilience.call("openai", () -> {
			throw new IllegalStateException(CANARY + "-application");
		})));
		thrown.add(catchThrowable(() -> this.chat.askUnderBrokenKey(PROMPT)));
		assertThat(this.chat.askWithBrokenTokens(PROMPT)).isEqualTo(ANSWER);
		return thrown;
	}

	private List<Throwable> streams() {
		List<Throwable> thrown = new ArrayList<>();
		provider.script(500, ERROR);
		assertThat(this.reactive.flux("openai", () -> Flux.defer(() -> Flux.just(provider.ask(PROMPT))))
			.collectList()
			.block()).containsExactly(ANSWER);
		provider.script(500, ERROR);
		thrown.add(
				catchThrowable(
						() -> this.reactive
							.flux("openai",
									() -> Flux.concat(Flux.just(ANSWER),
											Flux.defer(() -> Flux.just(provider.ask(PROMPT)))))
							.collectList()
							.block()));
		return thrown;
	}

	private List<Throwable> outage() {
		List<Throwable> thrown = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			provider.script(500, ERROR);
		}
		for (int i = 0; i < 3; i++) {
			thrown.add(catchThrowable(() -> this.chat.ask(PROMPT)));
		}
		assertThat(this.chat.askEither(PROMPT)).as("failed over").isEqualTo(ANSWER);
		return thrown;
	}

	private List<Throwable> spendCap() {
		List<Throwable> thrown = new ArrayList<>();
		provider.script(429, SPEND_CAP);
		for (int i = 0; i < 2; i++) {
			thrown.add(catchThrowable(() -> this.chat.askOther(PROMPT)));
		}
		provider.script(429, DAILY_QUOTA);
		thrown.add(catchThrowable(() -> this.resilience.call("gemini", () -> provider.ask(PROMPT))));
		thrown.add(new LlmResultException(LlmFailure.of(FailureKind.SERVER_ERROR).withCode(CANARY + "-code")));
		return thrown;
	}

	/** Or else nothing has been shown. */
	private void everythingHappened(List<Throwable> thrown) {
		assertThat(thrown).hasSize(16).doesNotContainNull();
		assertThat(this.witness.seen).anyMatch((seen) -> seen.contains("CLOSED") && seen.contains("OPEN"))
			.anyMatch((seen) -> seen.startsWith("QuotaTransition[scope=other"))
			.anyMatch((seen) -> seen.startsWith("QuotaTransition[scope=gemini"))
			.anyMatch((seen) -> seen.startsWith("FailoverEvent"))
			.anyMatch((seen) -> seen.startsWith("observation") && seen.contains("attempt: SERVER_ERROR"))
			.anyMatch((seen) -> seen.contains("given up: NOT_RETRYABLE"))
			.anyMatch((seen) -> seen.contains("STREAM_BROKEN"))
			.anyMatch((seen) -> seen.contains("succeeded"));
		assertThat(thrown).hasAtLeastOneElementOfType(LlmCallRefusedException.class);
	}

	/** The messages of exceptions that are ours, attached ones included. */
	private static List<String> ours(Throwable thrown) {
		List<String> texts = new ArrayList<>();
		for (Throwable each = thrown; each != null; each = each.getCause()) {
			if (isOurs(each)) {
				texts.add(each.toString());
			}
			for (Throwable suppressed : each.getSuppressed()) {
				if (isOurs(suppressed)) {
					texts.add(suppressed.toString());
				}
			}
		}
		return texts;
	}

	private static boolean isOurs(Throwable thrown) {
		return thrown.getClass().getName().startsWith("dev.llmresilience.")
				|| String.valueOf(thrown.getMessage()).contains("@LlmRetry");
	}

	private static String text(ILoggingEvent event) {
		StringBuilder text = new StringBuilder(event.getFormattedMessage()).append(event.getMDCPropertyMap());
		for (IThrowableProxy each = event.getThrowableProxy(); each != null; each = each.getCause()) {
			text.append(each.getClassName()).append(each.getMessage());
		}
		return text.toString();
	}

	private String get(String path) {
		try {
			return HttpClient.newHttpClient()
				.send(HttpRequest.newBuilder(URI.create("http://localhost:" + this.port + path)).build(),
						BodyHandlers.ofString())
				.body();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/** Answers as scripted, and otherwise with the answer; a canary in every header. */
	private static final class Provider {

		private final HttpServer server;

		private final Queue<Map.Entry<Integer, String>> script = new ConcurrentLinkedQueue<>();

		Provider() {
			try {
				this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			this.server.createContext("/", (exchange) -> {
				Map.Entry<Integer, String> next = this.script.poll();
				byte[] body = ((next != null) ? next.getValue() : ANSWER).getBytes(StandardCharsets.UTF_8);
				for (String header : List.of("request-id", "retry-after", "x-should-retry", "x-amzn-errortype",
						"anthropic-ratelimit-requests-limit", "x-ratelimit-limit-requests",
						"anthropic-organization-id")) {
					exchange.getResponseHeaders().set(header, CANARY + "-header");
				}
				exchange.getResponseHeaders().set("Content-Type", (next != null) ? "application/json" : "text/plain");
				exchange.getRequestBody().readAllBytes();
				exchange.sendResponseHeaders((next != null) ? next.getKey() : 200, body.length);
				exchange.getResponseBody().write(body);
				exchange.close();
			});
			this.server.start();
		}

		Provider script(int status, String body) {
			this.script.add(Map.entry(status, body));
			return this;
		}

		String ask(String prompt) {
			// Apache's client would repeat a 429 by itself.
			return Objects.requireNonNull(RestClient.builder()
				.requestFactory(new JdkClientHttpRequestFactory())
				.baseUrl("http://localhost:" + this.server.getAddress().getPort())
				.build()
				.post()
				.uri("/")
				.header("Authorization", "Bearer " + KEY)
				.body(prompt)
				.retrieve()
				.body(String.class));
		}

	}

	static class Chat {

		@LlmRetry(provider = "anthropic", deduplicate = "#prompt", tokens = "#prompt.length()")
		public String ask(String prompt) {
			return provider.ask(prompt);
		}

		@LlmRetry(provider = "anthropic", key = "#prompt")
		public String askUnderKey(String prompt) {
			return provider.ask(prompt);
		}

		@LlmRetry(provider = "anthropic", key = "T(java.lang.Integer).parseInt(#prompt)")
		public String askUnderBrokenKey(String prompt) {
			return provider.ask(prompt);
		}

		@LlmRetry(provider = "backup", tokens = "T(java.lang.Integer).parseInt(#prompt)", key = "#prompt")
		public String askWithBrokenTokens(String prompt) {
			return provider.ask(prompt);
		}

		@LlmRetry(provider = "anthropic", failover = "backup")
		public String askEither(String prompt) {
			Object unused = LlmCall.current();
			return provider.ask(prompt);
		}

		@LlmRetry(provider = "other")
		public String askOther(String prompt) {
			return provider.ask(prompt);
		}

	}

	/** Notes what is published. */
	static class Witness implements LlmCallListener, ObservationHandler<Observation.Context> {

		private final List<String> seen = new CopyOnWriteArrayList<>();

		@Override
		public void onCall(LlmCallReport report) {
			this.seen.add(report.toString());
		}

		@EventListener
		void on(BreakerTransition transition) {
			this.seen.add(transition.toString());
		}

		@EventListener
		void on(QuotaTransition transition) {
			this.seen.add(transition.toString());
		}

		@EventListener
		void on(FailoverEvent event) {
			this.seen.add(event.toString());
		}

		@Override
		public void onEvent(Observation.Event event, Observation.Context context) {
			this.seen.add("observation " + context.getName() + event);
		}

		@Override
		public void onStop(Observation.Context context) {
			if ("llm.call".equals(context.getName())) {
				this.seen.add("observation " + context + context.getError());
			}
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return true;
		}

	}

	@RestController
	static class Questions {

		private final Chat chat;

		Questions(Chat chat) {
			this.chat = chat;
		}

		@GetMapping("/ask")
		String ask() {
			return this.chat.ask(PROMPT);
		}

	}

	@SpringBootConfiguration
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Chat chat() {
			return new Chat();
		}

		@Bean
		Witness witness() {
			return new Witness();
		}

		@Bean
		Questions questions(Chat chat) {
			return new Questions(chat);
		}

	}

}
