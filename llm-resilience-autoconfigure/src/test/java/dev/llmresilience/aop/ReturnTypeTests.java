package dev.llmresilience.aop;

import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * What a protected method may return, and what of it is retried.
 */
@ExtendWith(OutputCaptureExtension.class)
class ReturnTypeTests {

	private static final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class))
		.withBean(Chat.class)
		.withPropertyValues("llm.resilience.providers.default.retry.base-delay=1ms",
				"llm.resilience.providers.other.type=openai");

	private static final AtomicInteger attempts = new AtomicInteger();

	/** How many of the attempts fail, and what they threw. */
	private static volatile int failures;

	private static final List<Throwable> thrown = new CopyOnWriteArrayList<>();

	@BeforeEach
	void nothingFails() {
		attempts.set(0);
		failures = 0;
		thrown.clear();
	}

	private static Arguments row(String name, Function<Chat, @Nullable Object> result) {
		return Arguments.of(name, result);
	}

	static Stream<Arguments> results() {
		return Stream.of(row("plain", Chat::plain), row("CompletableFuture", (chat) -> get(chat.future())),
				row("CompletionStage", (chat) -> get(chat.stage().toCompletableFuture())),
				row("Mono", (chat) -> chat.mono().block()), row("Flux", (chat) -> chat.flux().blockFirst()),
				row("Publisher", (chat) -> Flux.from(chat.publisher()).blockFirst()));
	}

	private static <T> T get(CompletableFuture<T> future) {
		return future.orTimeout(10, TimeUnit.SECONDS).join();
	}

	private static void with(Consumer<Chat> test) {
		runner.run((context) -> test.accept(context.getBean(Chat.class)));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("results")
	void aFailureThatCanPassIsRetried(String type, Function<Chat, @Nullable Object> result) {
		with((chat) -> {
			failures = 2;
			assertThat(result.apply(chat)).isEqualTo("answer of default");
			assertThat(attempts).hasValue(3);
		});
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("results")
	void aFailureThatStaysReachesTheCallerWithItsReport(String type, Function<Chat, @Nullable Object> result) {
		with((chat) -> {
			failures = 100;
			Throwable thrown = catchThrowable(() -> result.apply(chat));
			Throwable cause = (thrown instanceof CompletionException) ? Objects.requireNonNull(thrown.getCause())
					: thrown;
			assertThat(cause).isSameAs(ReturnTypeTests.thrown.get(3));
			assertThat(LlmCallReport.find(thrown)).isNotNull();
			assertThat(attempts).hasValue(4);
		});
	}

	@Test
	void aReactiveMethodIsInvokedForEachSubscriptionAndNotBefore() {
		with((chat) -> {
			Mono<String> mono = chat.mono();
			assertThat(attempts).hasValue(0);
			mono.block();
			mono.block();
			assertThat(attempts).hasValue(2);
		});
	}

	static Stream<Arguments> handedOver() {
		return Stream.of(row("plain", Chat::plainOver), row("CompletableFuture", (chat) -> get(chat.futureOver())),
				row("Mono", (chat) -> chat.monoOver().block()));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("handedOver")
	void theMethodIsInvokedAgainForTheProviderThatTakesOver(String type, Function<Chat, @Nullable Object> result) {
		with((chat) -> {
			failures = 4;
			assertThat(result.apply(chat)).isEqualTo("answer of other");
		});
	}

	@Test
	void aMethodThatNeverAsksForTheProviderIsWarnedOf(CapturedOutput output) {
		with((chat) -> {
			failures = 4;
			chat.blind();
			failures = 4;
			attempts.set(0);
			chat.blind();
		});
		assertThat(output.toString()).containsOnlyOnce("did not ask LlmCall.current().provider()")
			.contains("Chat.blind");
	}

	@Test
	void aMethodThatAsksIsNotWarnedOf(CapturedOutput output) {
		with((chat) -> {
			failures = 4;
			chat.plainOver();
		});
		assertThat(output).doesNotContain("did not ask");
	}

	@ParameterizedTest
	@ValueSource(strings = { "later", "lines", "one" })
	void whatIsReadAfterTheMethodHasReturnedIsSaidNotToBeProtected(String method, CapturedOutput output) {
		runner.run((context) -> assertThat(output).contains("Chat." + method + " protects only the call that opens"));
	}

	@Test
	void nothingIsSaidOfTypesThatAreRetried(CapturedOutput output) {
		runner.run((context) -> assertThat(output).doesNotContain("Chat.future ")
			.doesNotContain("Chat.mono ")
			.doesNotContain("Chat.flux "));
	}

	@Test
	void anUnknownFailoverStopsTheStart() {
		runner.withBean(Unknown.class)
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("failover")
				.hasStackTraceContaining("nobody")
				.hasStackTraceContaining("known are"));
	}

	@Test
	void aFailoverToItselfStopsTheStart() {
		runner.withBean(Itself.class)
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("names the provider that has failed"));
	}

	@Test
	void aProviderTakesOverOnce() {
		runner.withPropertyValues("llm.resilience.strict=false").withBean(Repeated.class).run((context) -> {
			Repeated repeated = context.getBean(Repeated.class);
			assertThatException().isThrownBy(repeated::ask);
			assertThat(repeated.asked()).containsExactly("default", "default", "default", "default", "other", "other",
					"other", "other");
		});
	}

	static class Repeated {

		private final List<String> asked = new ArrayList<>();

		@LlmRetry(failover = { "other", "nobody", "other" })
		public String ask() {
			this.asked.add(Objects.requireNonNull(LlmCall.current()).provider());
			throw new UncheckedIOException(new ConnectException("refused"));
		}

		List<String> asked() {
			return this.asked;
		}

	}

	static class Unknown {

		@LlmRetry(failover = "nobody")
		public String ask() {
			return "answer";
		}

	}

	static class Itself {

		@LlmRetry(failover = "default")
		public String ask() {
			return "answer";
		}

	}

	static class Chat {

		private String attempt(String provider) {
			if (attempts.incrementAndGet() <= failures) {
				UncheckedIOException failure = new UncheckedIOException(new ConnectException("refused"));
				thrown.add(failure);
				throw failure;
			}
			return "answer of " + provider;
		}

		private String attempt() {
			return attempt(Objects.requireNonNull(LlmCall.current()).provider());
		}

		@LlmRetry
		public String plain() {
			return attempt();
		}

		@LlmRetry
		public CompletableFuture<String> future() {
			return CompletableFuture.completedFuture(attempt());
		}

		@LlmRetry
		public CompletionStage<String> stage() {
			try {
				return CompletableFuture.completedStage(attempt());
			}
			catch (UncheckedIOException ex) {
				return CompletableFuture.failedStage(ex);
			}
		}

		@LlmRetry
		public Mono<String> mono() {
			return Mono.just(attempt());
		}

		@LlmRetry
		public Flux<String> flux() {
			String provider = Objects.requireNonNull(LlmCall.current()).provider();
			return Flux.defer(() -> Flux.just(attempt(provider), "and more"));
		}

		@LlmRetry
		public Publisher<String> publisher() {
			return Flux.just(attempt());
		}

		@LlmRetry(failover = "other")
		public String plainOver() {
			return attempt();
		}

		@LlmRetry(failover = "other")
		public CompletableFuture<String> futureOver() {
			return CompletableFuture.completedFuture(attempt());
		}

		@LlmRetry(failover = "other")
		public Mono<String> monoOver() {
			return Mono.just(attempt());
		}

		@LlmRetry(failover = "other")
		public String blind() {
			return attempt("whoever");
		}

		@LlmRetry
		public Future<String> later() {
			return CompletableFuture.completedFuture("answer");
		}

		@LlmRetry
		public Stream<String> lines() {
			return Stream.of("answer");
		}

		@LlmRetry
		public Iterator<String> one() {
			return List.of("answer").iterator();
		}

	}

}
