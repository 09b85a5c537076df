package dev.llmresilience.engine;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import java.util.stream.Stream;

import javax.net.ssl.SSLHandshakeException;

import com.anthropic.core.JsonValue;
import com.anthropic.core.http.Headers;
import com.anthropic.errors.AnthropicIoException;
import com.anthropic.errors.SseException;
import com.openai.errors.OpenAIIoException;
import dev.langchain4j.exception.HttpException;
import dev.langchain4j.exception.RateLimitException;
import dev.langchain4j.exception.UnresolvedModelServerException;
import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.Priority;
import dev.llmresilience.breaker.BreakerTransition;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.breaker.QuotaTransition;
import dev.llmresilience.engine.CallPlan.Target;
import dev.llmresilience.engine.Shape.Answer;
import dev.llmresilience.engine.Shape.Running;
import dev.llmresilience.engine.Shape.Script;
import dev.llmresilience.failure.DefaultFailureClassifier;
import dev.llmresilience.failure.ProviderType;
import dev.llmresilience.limiter.LimiterMode;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.policy.Jitter;
import dev.llmresilience.policy.RetryPolicy;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.HttpServerErrorException;
import org.springframework.web.client.ResourceAccessException;

import static dev.llmresilience.failure.ProviderType.ANTHROPIC;
import static dev.llmresilience.failure.ProviderType.GENERIC;
import static dev.llmresilience.failure.ProviderType.OPENAI;
import static dev.llmresilience.failure.ProviderType.OPENROUTER;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What people reported of calls that failed, from the exception to the end of the call,
 * in every shape: how often it is made, what the circuit breaker makes of it, whether
 * another provider takes over, and that nothing is kept. Errors within streams (D),
 * timeouts and transport (G), and wrapped causes (H).
 */
class ReportedCasesTests {

	private static final RetryPolicy POLICY = RetryPolicy.DEFAULTS.withAttempts(4, 3)
		.withBackoff(Jitter.FULL, Duration.ofSeconds(1), Duration.ofSeconds(30));

	private static final boolean ONCE_ONLY = false;

	private static final String NOTHING_WRAPPED = "C102 a wrapper of nothing";

	private final Simulation simulation = new Simulation();

	private final List<FailoverEvent> failovers = new ArrayList<>();

	private final List<Throwable> thrown = new ArrayList<>();

	@AfterEach
	void end() {
		this.simulation.close();
	}

	static Stream<Case> reported() {
		return Stream.of(
				/* D: errors within a 200. */
				within("C58 an overload before any output", "overloaded_error", 4, 'F', true),
				within("C58 an error of the API before any output", "api_error", 4, 'F', true),
				within("C58 a rate limit before any output", "rate_limit_error", 4, 'N', true),
				within("C58 a wrong request, told in the stream", "invalid_request_error", 1, 'S', false),
				of("C65 a reset while a stream opens", GENERIC,
						() -> new CompletionException(new SocketException("Connection reset")), 4, 'F', true),
				of("C66 a rate limit without text or body", OPENAI,
						() -> new RateLimitException(new HttpException(429, "")), 2, 'N', true),
				of("C66 a rate limit without any message", OPENAI, () -> new RateLimitException((String) null), 2, 'N',
						true),
				of("C72 a 500 of a gateway", OPENROUTER,
						() -> HttpServerErrorException.create(HttpStatus.INTERNAL_SERVER_ERROR, "", HttpHeaders.EMPTY,
								new byte[0], null),
						4, 'F', true),

				/* G: timeouts, duplicates, transport. */
				of("C89 a timeout of what may run twice", GENERIC, () -> new HttpTimeoutException("request timed out"),
						4, 'F', true),
				of("C89 a timeout of what may not", GENERIC, () -> new HttpTimeoutException("request timed out"),
						ONCE_ONLY, 1, 'F', false),
				of("C91 a server that hangs up on what may not run twice", GENERIC,
						() -> new IOException("HTTP/1.1 header parser received no bytes"), ONCE_ONLY, 1, 'F', false),
				of("C91 a refused connection of what may not run twice", GENERIC,
						() -> new ConnectException("Connection refused"), ONCE_ONLY, 4, 'F', true),
				of("C92 a timeout at once, every time", GENERIC, () -> new SocketTimeoutException("timeout"), 4, 'F',
						true),
				of("C94 no connection in time", GENERIC,
						() -> new HttpConnectTimeoutException("HTTP connect timed out"), ONCE_ONLY, 4, 'F', true),
				of("C94 no handshake in time", GENERIC,
						() -> caused(new SSLHandshakeException("Read timed out"),
								new SocketTimeoutException("Read timed out")),
						ONCE_ONLY, 4, 'F', true),
				of("C95 a certificate that is not trusted", GENERIC,
						() -> caused(new SSLHandshakeException("No name matching x found"),
								new CertificateException("No name matching x found")),
						1, 'N', false),
				of("C95 a certificate that has expired", GENERIC,
						() -> caused(new SSLHandshakeException("PKIX path validation failed"),
								new CertPathValidatorException("expired")),
						1, 'N', false),
				of("C97 a stale connection", GENERIC, () -> new EOFException("\n not found: limit=0 content=..."), 4,
						'F', true),
				of("C97 a stale connection, in other words", GENERIC, () -> new IOException("unexpected end of stream"),
						4, 'F', true),
				of("C99 a refused connection below a template", GENERIC,
						() -> new ResourceAccessException("I/O error", new ConnectException("Connection refused")), 4,
						'F', true),
				of("C100 a connection error with its cause", ANTHROPIC,
						() -> new AnthropicIoException("Connection error.", new SocketException("reset")), 4, 'F',
						true),
				of("C100 a connection error whose cause was lost", ANTHROPIC,
						() -> new AnthropicIoException("Connection error."), 4, 'F', true),
				of("C100 the same of another SDK", OPENAI, () -> new OpenAIIoException("Connection error."), 4, 'F',
						true),
				of("C100 its cause within an exception that nobody knows", GENERIC,
						() -> new IllegalStateException("Connection error.", new SocketException("reset")), 4, 'F',
						true),
				of("C100 its text in an exception that nobody knows", GENERIC,
						() -> new IllegalStateException("Connection error."), 1, 'N', false),
				of("C101 a host that nobody knows", GENERIC,
						() -> caused(new ConnectException(),
								caused(new ConnectException(), new UnresolvedAddressException())),
						2, 'F', true),
				of("C101 the same of a library that takes it for permanent", OPENAI,
						() -> new UnresolvedModelServerException("x", new ConnectException()), 2, 'F', true),

				/* H: wrapped causes. */
				of("C102 a 503 in a wrapper", GENERIC,
						() -> new CompletionException(HttpServerErrorException.create(HttpStatus.SERVICE_UNAVAILABLE,
								"", HttpHeaders.EMPTY, new byte[0], null)),
						4, 'F', true),
				of("C102 a 400 in a wrapper", GENERIC,
						() -> new ExecutionException(HttpClientErrorException.create(HttpStatus.BAD_REQUEST, "",
								HttpHeaders.EMPTY, new byte[0], null)),
						1, 'S', false),
				of(NOTHING_WRAPPED, GENERIC, () -> new CompletionException((Throwable) null), 1, 'N', false),
				of("C104 no memory", GENERIC, () -> new OutOfMemoryError("heap"), 1, 'N', false),
				of("C104 no stack", GENERIC, StackOverflowError::new, 1, 'N', false),
				of("C104 a failed assertion", GENERIC, () -> new AssertionError("no"), 1, 'N', false));
	}

	static Stream<Arguments> reportedInEachShape() {
		return reported().flatMap((reported) -> Arrays.stream(Shape.values())
			.filter(reported::isOf)
			.map((shape) -> Arguments.of(reported, shape)));
	}

	@ParameterizedTest(name = "{0}, {1}")
	@MethodSource("reportedInEachShape")
	void itIsCalledThatOftenAndTheLastFailureReachesTheCaller(Case reported, Shape shape) {
		entry("p", reported.type, POLICY, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF));
		Script script = failing(reported, Integer.MAX_VALUE);
		Running call = run(shape, plan(reported, "p"), script);
		assertThat(script.attempts()).isEqualTo(reported.calls);
		assertThat(call.thrown()).isSameAs(surfaced(this.thrown.get(this.thrown.size() - 1), shape));
		assertThat(Objects.requireNonNull(LlmCallReport.find(call.thrown())).attempts()).hasSize(reported.calls);
		// Backoffs of up to 1, 2 and 4 seconds.
		assertThat(call.ended()).isBetween(Duration.ZERO, Duration.ofSeconds((1L << (reported.calls - 1)) - 1));
		assertThat(call.ended().isZero()).isEqualTo(reported.calls == 1);
	}

	@ParameterizedTest(name = "{0}, {1}")
	@MethodSource("reportedInEachShape")
	void theNextAttemptsAnswerCounts(Case reported, Shape shape) {
		entry("p", reported.type, POLICY, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF));
		Script script = failing(reported, 1);
		Running call = run(shape, plan(reported, "p"), script);
		if (reported.calls > 1) {
			assertThat(call.result()).isEqualTo("answer");
			assertThat(script.attempts()).isEqualTo(2);
		}
		else {
			assertThat(call.thrown()).isNotNull();
			assertThat(script.attempts()).isEqualTo(1);
		}
	}

	@ParameterizedTest(name = "{0}, {1}")
	@MethodSource("reportedInEachShape")
	void theBreakerIsToldAndNothingIsKept(Case reported, Shape shape) {
		entry("p", reported.type, POLICY.withAttempts(1, 0), LimiterSettings.DEFAULTS.withMaxConcurrentCalls(1));
		CircuitBreaker breaker = this.simulation.breaker("p");
		Objects.requireNonNull(breaker.tryAcquire()).failure(FailureKind.SERVER_ERROR, 500, 0);
		run(shape, plan(reported, "p"), failing(reported, 1)).thrown();
		int failures = switch (reported.breaker) {
			case 'F' -> 2;
			case 'S' -> 0;
			default -> 1;
		};
		assertThat(breaker.snapshot().consecutiveFailures()).isEqualTo(failures);
		assertThat(this.simulation.providers().get("p").limiter().inFlight()).isZero();
	}

	@ParameterizedTest(name = "{0}, {1}")
	@MethodSource("reportedInEachShape")
	void anotherProviderTakesOverOrDoesNot(Case reported, Shape shape) {
		this.simulation.listener = new Failovers();
		entry("p", reported.type, POLICY, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF));
		entry("q", reported.type, POLICY, LimiterSettings.DEFAULTS.withMode(LimiterMode.OFF));
		run(shape, plan(reported, "p", "q"), failing(reported, Integer.MAX_VALUE)).thrown();
		assertThat(this.failovers).hasSize(reported.over ? 1 : 0);
	}

	private void entry(String name, ProviderType type, RetryPolicy policy, LimiterSettings limiter) {
		this.simulation.classifier = new DefaultFailureClassifier(List.of());
		ProviderSettings defaults = ProviderSettings.defaults(name);
		this.simulation.settings.add(new ProviderSettings(name, type, name, List.of(), policy, CallSettings.DEFAULTS,
				limiter, null, null, Simulation.threshold(1000), defaults.quotaCoolDown()));
	}

	private CallPlan plan(Case reported, String name, String... failover) {
		return new CallPlan("the method", target(reported, name),
				Arrays.stream(failover).map((other) -> target(reported, other)).toList());
	}

	private Target target(Case reported, String name) {
		Provider provider = this.simulation.providers().get(name);
		return new Target(provider, new CallOptions(provider.settings().policy(), Integer.MAX_VALUE,
				reported.idempotent, Priority.NORMAL, List.of(), List.of()), null);
	}

	private Script failing(Case reported, int times) {
		return new Script((attempt) -> {
			if (attempt > times) {
				return Answer.AT_ONCE;
			}
			Throwable failure = reported.failure.get();
			this.thrown.add(failure);
			return Answer.of(failure);
		});
	}

	private Running run(Shape shape, CallPlan plan, Script script) {
		Running call = shape.start(this.simulation, plan, script);
		this.simulation.time.runFor(Duration.ofHours(1));
		return call;
	}

	/** A stage's own wrapper is taken off; that is what it is for. */
	private static Throwable surfaced(Throwable thrown, Shape shape) {
		Throwable cause = thrown.getCause();
		return (shape != Shape.BLOCKING && thrown instanceof CompletionException && cause != null) ? cause : thrown;
	}

	private static Case within(String report, String type, int calls, char breaker, boolean over) {
		return of(report, ANTHROPIC,
				() -> SseException.builder()
					.statusCode(200)
					.headers(Headers.builder().build())
					.body(JsonValue.from(Map.of("type", "error", "error", Map.of("type", type, "message", "x"))))
					.build(),
				calls, breaker, over);
	}

	private static Case of(String report, ProviderType type, Supplier<Throwable> failure, int calls, char breaker,
			boolean over) {
		return of(report, type, failure, true, calls, breaker, over);
	}

	private static Case of(String report, ProviderType type, Supplier<Throwable> failure, boolean idempotent, int calls,
			char breaker, boolean over) {
		return new Case(report, type, failure, idempotent, calls, breaker, over);
	}

	private static Throwable caused(Throwable thrown, @Nullable Throwable cause) {
		return thrown.initCause(cause);
	}

	/**
	 * A report.
	 *
	 * @param report its number, and what happened
	 * @param type whose rules judge it
	 * @param failure what an attempt throws
	 * @param idempotent whether the call may run twice
	 * @param calls how often it is made, if it fails every time
	 * @param breaker F: a failure, S: the provider answered, N: neither
	 * @param over whether another provider takes over
	 */
	record Case(String report, ProviderType type, Supplier<Throwable> failure, boolean idempotent, int calls,
			char breaker, boolean over) {

		/** Reactor makes nothing of a future whose failure wraps nothing. */
		boolean isOf(Shape shape) {
			return !this.report.equals(NOTHING_WRAPPED) || shape == Shape.BLOCKING || shape == Shape.FUTURE;
		}

		@Override
		public String toString() {
			return this.report;
		}

	}

	private final class Failovers implements GuardListener {

		@Override
		public void onTransition(BreakerTransition transition) {
			// Not of interest.
		}

		@Override
		public void onTransition(QuotaTransition transition) {
			// Not of interest.
		}

		@Override
		public void onFailover(FailoverEvent event) {
			ReportedCasesTests.this.failovers.add(event);
		}

	}

}
