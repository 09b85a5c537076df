package dev.llmresilience.engine;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.models.messages.MessageCreateParams;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import dev.llmresilience.AttemptTimeoutException;
import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmCallReport.Attempt;
import dev.llmresilience.breaker.BreakerSettings;
import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.engine.CallSettings.AttemptThread;
import dev.llmresilience.engine.ProviderSettings.BudgetSettings;
import dev.llmresilience.failure.DefaultFailureClassifier;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.policy.Jitter;
import dev.llmresilience.policy.RetryPolicy;
import dev.llmresilience.time.SystemTimeSource;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * What becomes of an attempt that is over its time with the clients that applications
 * use, in real time and against a real socket.
 */
class ClientTimeoutTests {

	private static final Duration ATTEMPT = Duration.ofSeconds(1);

	private static final Duration WAIT = Duration.ofMillis(100);

	private static final Duration LONG = Duration.ofMinutes(1);

	private final SystemTimeSource time = new SystemTimeSource();

	private final CallEngine engine = new CallEngine(this.time, new DefaultFailureClassifier());

	/** How many attempts are in their client at present. */
	private final AtomicInteger running = new AtomicInteger();

	@AfterEach
	void noThreadStays() {
		this.time.close();
		Awaitility.await()
			.pollInterval(Duration.ofMillis(10))
			.until(() -> Thread.getAllStackTraces()
				.keySet()
				.stream()
				.noneMatch((thread) -> thread.getName().startsWith("llm-resilience-")));
	}

	private Provider provider(AttemptThread thread, RetryPolicy policy, BreakerSettings breaker) {
		ProviderSettings defaults = ProviderSettings.defaults("p");
		ProviderSettings settings = new ProviderSettings("p", defaults.type(), "p", List.of(), policy,
				CallSettings.DEFAULTS.withAttemptThread(thread), LimiterSettings.DEFAULTS.withMaxConcurrentCalls(1),
				null, new BudgetSettings(10, 0, 0), breaker, defaults.quotaCoolDown());
		return new Providers(List.of(settings), this.time, GuardListener.NONE).get("p");
	}

	private static RetryPolicy attempts(int attempts, Duration timeout) {
		return RetryPolicy.DEFAULTS.withAttempts(attempts, 0)
			.withBackoff(Jitter.NONE, WAIT, WAIT)
			.withTimeouts(LONG, timeout);
	}

	private @Nullable Object call(Provider provider, CallOptions options, Callable<?> request) throws Throwable {
		return new BlockingDriver(this.engine).<Object>call(provider, options, () -> {
			this.running.incrementAndGet();
			try {
				return request.call();
			}
			finally {
				this.running.decrementAndGet();
			}
		}, null);
	}

	@ParameterizedTest
	@EnumSource(names = { "ANTHROPIC", "OPENAI" })
	void onAWorkerAnAttemptIsLeftBehindOnTimeAndEndsWithItsSocket(Client client) throws Exception {
		Provider provider = provider(AttemptThread.WORKER, attempts(2, ATTEMPT), BreakerSettings.DEFAULTS);
		try (SlowServer.Silent server = SlowServer.silent()) {
			Callable<?> request = client.request(server.url(), LONG);
			long start = System.nanoTime();
			Throwable thrown = catchThrowable(() -> call(provider, provider.options(), request));
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(ATTEMPT.multipliedBy(2).plus(WAIT),
					Duration.ofMillis(2500).plus(WAIT));
			assertThat(Thread.interrupted()).isFalse();
			assertThat(thrown).isInstanceOf(AttemptTimeoutException.class).hasMessageContaining("1000 ms");
			assertThatBothTimedOut(thrown);
			assertThat(provider.limiter().inFlight()).isZero();
			assertThat(server.connections()).isEqualTo(2);
			if (Runtime.version().feature() < 21) {
				assertThat(this.running).as("left behind on platform threads, which OkHttp does not let go")
					.hasValue(2);
			}
		}
		awaitNobodyRuns();
	}

	@ParameterizedTest
	@EnumSource(names = { "REST_CLIENT", "JDK" })
	void onTheCallersThreadAnAttemptOfAClientThatHeedsInterruptsEndsOnTime(Client client) throws Exception {
		Provider provider = provider(AttemptThread.CALLER, attempts(2, ATTEMPT), BreakerSettings.DEFAULTS);
		try (SlowServer.Silent server = SlowServer.silent()) {
			assertThatItEndsOnTime(provider, server, client.request(server.url(), LONG));
		}
	}

	/** Which is what the line at start-up is about. */
	@ParameterizedTest
	@EnumSource(names = { "ANTHROPIC", "OPENAI" })
	void onThePlatformThreadOfItsCallerAnAttemptOfOkHttpEndsWhenItsOwnTimeIsOver(Client client) throws Exception {
		Provider provider = provider(AttemptThread.CALLER, attempts(1, Duration.ofMillis(300)),
				BreakerSettings.DEFAULTS);
		Duration own = Duration.ofMillis(1500);
		try (SlowServer.Silent server = SlowServer.silent()) {
			Callable<?> request = client.request(server.url(), own);
			long start = System.nanoTime();
			Throwable thrown = catchThrowable(() -> call(provider, provider.options(), request));
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(own.minusMillis(50));
			assertThat(Thread.interrupted()).isFalse();
			assertThat(report(thrown).lastKind()).isEqualTo(FailureKind.TIMEOUT);
		}
	}

	@ParameterizedTest
	@EnumSource
	@EnabledForJreRange(min = JRE.JAVA_21)
	void onAVirtualThreadAnyClientHeedsInterrupts(Client client) throws Exception {
		Provider provider = provider(AttemptThread.CALLER, attempts(2, ATTEMPT), BreakerSettings.DEFAULTS);
		ExecutorService virtual = virtualThreads();
		try (SlowServer.Silent server = SlowServer.silent()) {
			Callable<?> request = client.request(server.url(), LONG);
			virtual.submit(() -> {
				assertThatItEndsOnTime(provider, server, request);
				return null;
			}).get(30, TimeUnit.SECONDS);
		}
		finally {
			virtual.shutdownNow();
		}
	}

	private void assertThatItEndsOnTime(Provider provider, SlowServer.Silent server, Callable<?> request) {
		long start = System.nanoTime();
		Throwable thrown = catchThrowable(() -> call(provider, provider.options(), request));
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(ATTEMPT.multipliedBy(2).plus(WAIT),
				Duration.ofMillis(2500).plus(WAIT));
		assertThat(Thread.interrupted()).isFalse();
		assertThatBothTimedOut(thrown);
		assertThat(this.running).hasValue(0);
		assertThat(provider.limiter().inFlight()).isZero();
		assertThat(server.connections()).isEqualTo(2);
	}

	private static void assertThatBothTimedOut(Throwable thrown) {
		assertThat(report(thrown).attempts()).extracting(Attempt::kind)
			.containsExactly(FailureKind.TIMEOUT, FailureKind.TIMEOUT);
	}

	/**
	 * Each round races the answer against the end of its time, which comes a little
	 * sooner after an answer and a little later after a timeout. One failure opens the
	 * breaker, and the next call is its trial.
	 */
	@ParameterizedTest
	@CsvSource({ "ANTHROPIC, CALLER", "OPENAI, CALLER", "REST_CLIENT, CALLER", "JDK, CALLER", "ANTHROPIC, WORKER",
			"OPENAI, WORKER", "REST_CLIENT, WORKER", "JDK, WORKER" })
	void anAnswerThatComesWithTheEndOfItsTimeLeavesNothingBehind(Client client, AttemptThread thread) throws Throwable {
		BreakerSettings d = BreakerSettings.DEFAULTS;
		Provider provider = provider(thread, attempts(1, LONG), new BreakerSettings(1, null, d.windowSize(), null,
				Duration.ofNanos(1), Duration.ofNanos(1), Duration.ofMinutes(5)));
		int answers = 0;
		int timeouts = 0;
		try (SlowServer server = SlowServer.answeringAfter(Duration.ofMillis(3))) {
			Callable<?> request = client.request(server.url(), LONG);
			request.call();
			double nanos = Duration.ofMillis(6).toNanos();
			for (int round = 0; round < 250; round++) {
				CallOptions options = CallOptions.of(attempts(1, Duration.ofNanos((long) nanos)));
				Throwable thrown = catchThrowable(() -> call(provider, options, request));
				assertThat(Thread.interrupted()).as("round %d", round).isFalse();
				assertThat(provider.limiter().inFlight()).as("round %d", round).isZero();
				if (thrown == null) {
					answers++;
					nanos *= 0.98;
				}
				else {
					timeouts++;
					nanos *= 1.02;
					assertThat(report(thrown).lastKind() == FailureKind.TIMEOUT || isBreakOfANeighbour(thrown))
						.as("round %d: %s", round, thrown)
						.isTrue();
				}
			}
			assertThat(answers).isGreaterThan(25);
			assertThat(timeouts).isGreaterThan(25);
			assertThat(call(provider, provider.options(), request)).as("a client that was interrupted still works")
				.isNotNull();
			awaitNobodyRuns();
		}
		CircuitBreaker breaker = Objects.requireNonNull(provider.breaker());
		assertThat(breaker.state()).isEqualTo(BreakerState.CLOSED);
		assertThat(breaker.snapshot().trialInFlight()).isFalse();
		assertThat(Objects.requireNonNull(provider.budget()).tokens()).isEqualTo(10);
		assertThat(provider.limiter().waiting()).isZero();
		assertThat(this.engine.watch().size()).isZero();
	}

	/**
	 * The JDK's client of Java 25 closes the connection of an exchange that is cancelled
	 * just when it is over, although another one has got the connection already.
	 */
	private static boolean isBreakOfANeighbour(Throwable thrown) {
		for (Throwable t = thrown; t != null; t = t.getCause()) {
			if ("connection closed locally".equals(t.getMessage())) {
				return true;
			}
		}
		return false;
	}

	private void awaitNobodyRuns() {
		Awaitility.await().pollInterval(Duration.ofMillis(10)).until(() -> this.running.get() == 0);
	}

	private static LlmCallReport report(Throwable thrown) {
		return Objects.requireNonNull(LlmCallReport.find(thrown), () -> "no report: " + thrown);
	}

	private static ExecutorService virtualThreads() throws ReflectiveOperationException {
		return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
	}

	/** A client library, without retries of its own. */
	private enum Client {

		ANTHROPIC {
			@Override
			Callable<?> request(String url, Duration timeout) {
				AnthropicClient client = AnthropicOkHttpClient.builder()
					.apiKey("test")
					.baseUrl(url)
					.maxRetries(0)
					.timeout(timeout)
					.build();
				return () -> client.messages()
					.create(MessageCreateParams.builder()
						.model("claude-x")
						.maxTokens(16)
						.addUserMessage("hello")
						.build());
			}
		},

		OPENAI {
			@Override
			Callable<?> request(String url, Duration timeout) {
				OpenAIClient client = OpenAIOkHttpClient.builder()
					.apiKey("test")
					.baseUrl(url)
					.maxRetries(0)
					.timeout(timeout)
					.build();
				return () -> client.chat()
					.completions()
					.create(ChatCompletionCreateParams.builder().model("gpt-x").addUserMessage("hello").build());
			}
		},

		REST_CLIENT {
			@Override
			Callable<?> request(String url, Duration timeout) {
				JdkClientHttpRequestFactory factory = new JdkClientHttpRequestFactory();
				factory.setReadTimeout(timeout);
				RestClient client = RestClient.builder().baseUrl(url).requestFactory(factory).build();
				return () -> client.post().body("hello").retrieve().body(String.class);
			}
		},

		JDK {
			@Override
			Callable<?> request(String url, Duration timeout) {
				HttpClient client = HttpClient.newHttpClient();
				HttpRequest request = HttpRequest.newBuilder(URI.create(url))
					.timeout(timeout)
					.POST(HttpRequest.BodyPublishers.ofString("hello"))
					.build();
				return () -> client.send(request, BodyHandlers.ofString()).body();
			}
		};

		/**
		 * Sets up the client for one request.
		 * @param url where to
		 * @param timeout the client's own limit for the answer
		 * @return makes the request
		 */
		abstract Callable<?> request(String url, Duration timeout);

	}

}
