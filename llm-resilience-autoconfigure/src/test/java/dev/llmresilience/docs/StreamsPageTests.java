package dev.llmresilience.docs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.llmresilience.AttemptTimeoutException;
import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.ReactiveLlmResilience;
import dev.llmresilience.StreamEvent;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.HttpServerErrorException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The page on streams: each of its examples is compiled and run here, word for word.
 */
class StreamsPageTests {

	private static final Page PAGE = Page.of("streams.md");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class))
		.withPropertyValues("llm.resilience.providers.anthropic.retry.base-delay=1ms",
				"llm.resilience.providers.openai.type=openai")
		.withBean(Chat.class)
		.withBean(Client.class)
		.withBean(Answers.class)
		.withBean(Tales.class)
		.withBean(Annotated.class);

	static Stream<String> examples() {
		return PAGE.blocks("java").stream();
	}

	@ParameterizedTest
	@MethodSource("examples")
	void eachExampleIsCompiled(String example) {
		assertThat(Page.source("StreamsPageTests.java")).contains(Page.plain(example));
	}

	@Test
	void aStreamThatBreaksIsShownAnewAsTheTableSays() {
		this.runner.run((context) -> {
			context.getBean(Chat.class).breaks = 1;
			List<String> texts = PAGE.rows("shown").stream().map((row) -> row.get(1)).toList();
			assertThat(context.getBean(Answers.class).text("prompt").skip(1).collectList().block())
				.containsExactlyElementsOf(texts);
		});
	}

	@Test
	void thePageOfABrowserIsToldToClearItsText() {
		this.runner.run((context) -> {
			context.getBean(Chat.class).breaks = 1;
			assertThat(
					context.getBean(Answers.class).answer("prompt").map(ServerSentEvent::event).collectList().block())
				.containsExactly("words", "reset", "words", "words");
		});
	}

	@Test
	void theFallbackAnswersWhenTheStreamHasFailedForGood() {
		this.runner.run((context) -> {
			context.getBean(Chat.class).breaks = Integer.MAX_VALUE;
			assertThat(context.getBean(Answers.class).text("prompt").blockLast()).isEqualTo("Once and whole");
			List<StreamEvent<String>> events = new ArrayList<>();
			context.getBean(Answers.class).events("prompt").doOnNext(events::add).blockLast();
			assertThat(events).filteredOn(StreamEvent.Reset.class::isInstance)
				.containsExactly(new StreamEvent.Reset<>(2), new StreamEvent.Reset<>(3), new StreamEvent.Reset<>(4),
						new StreamEvent.Reset<>(0));
		});
	}

	@Test
	void aFluxThatBreaksAfterItsFirstElementIsNotRepeated() {
		this.runner.run((context) -> {
			context.getBean(Chat.class).breaks = Integer.MAX_VALUE;
			List<String> elements = new ArrayList<>();
			Throwable thrown = catchThrowable(
					() -> context.getBean(Annotated.class).stream("prompt").doOnNext(elements::add).blockLast());
			assertThat(elements).containsExactly("Once");
			assertThat(report(thrown).reason()).isEqualTo(GiveUpReason.STREAM_BROKEN);
		});
	}

	@Test
	void silenceEndsAStreamThatHasAnIdleTimeout() {
		this.runner.withPropertyValues("llm.resilience.providers.anthropic.retry.idle-timeout=50ms").run((context) -> {
			context.getBean(Chat.class).silent = true;
			assertThatExceptionOfType(AttemptTimeoutException.class)
				.isThrownBy(() -> context.getBean(Annotated.class).stream("prompt").blockLast(Duration.ofSeconds(30)));
		});
	}

	@Test
	void aStreamThatIsReadWithinTheMethodIsRetriedAsAWhole() {
		this.runner.run((context) -> {
			context.getBean(Client.class).breaks = 2;
			assertThat(context.getBean(Tales.class).tell("prompt")).isEqualTo("Once upon");
			assertThat(context.getBean(Client.class).opened).hasValue(3);
		});
	}

	@Test
	void whatWasShownWhileItWasReadIsNotShownTwice() {
		this.runner.run((context) -> {
			context.getBean(Client.class).breaks = 2;
			List<String> screen = new ArrayList<>();
			Throwable thrown = catchThrowable(() -> context.getBean(Tales.class).tell("prompt", screen::add));
			assertThat(screen).containsExactly("Once");
			assertThat(report(thrown).reason()).isEqualTo(GiveUpReason.SIDE_EFFECT);
		});
	}

	@Test
	void sharingAStreamStopsTheStart() {
		this.runner.withBean(SharedStream.class).run((context) -> assertThat(context).hasFailed());
	}

	private static LlmCallReport report(Throwable thrown) {
		LlmCallReport report = LlmCallReport.find(thrown);
		if (report == null) {
			throw new AssertionError("no report", thrown);
		}
		return report;
	}

	static Stream<String> constants() {
		return PAGE.code("[A-Z]+_[A-Z_]+|TIMEOUT");
	}

	@ParameterizedTest
	@MethodSource("constants")
	void aConstantOnThePageExists(String constant) {
		assertThat(Stream.concat(Arrays.stream(GiveUpReason.values()), Arrays.stream(FailureKind.values()))
			.map(Object::toString)).contains(constant);
	}

	static Stream<String> properties() {
		return PAGE.code("(retry|limiter)\\.[a-z-]+");
	}

	@ParameterizedTest
	@MethodSource("properties")
	void aPropertyOnThePageExists(String property) {
		assertThat(Page.known()).contains(property);
	}

	@Test
	void theConfigurationOfThePageIsHeeded() {
		Map<String, String> expected = Map.of("first-element-timeout", "2m", "idle-timeout", "20s");
		assertThat(PAGE.blocks("yaml")).singleElement()
			.satisfies((yaml) -> assertThat(Page.properties(yaml)).allSatisfy((source) -> expected.forEach(
					(name, value) -> assertThat(source.getProperty("llm.resilience.providers.anthropic.retry." + name))
						.hasToString(value))));
		this.runner.withInitializer(Page.configuration(PAGE.blocks("yaml").get(0)))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@RestController
	static class Answers {

		private final ReactiveLlmResilience resilience;

		private final Chat chat;

		Answers(ReactiveLlmResilience resilience, Chat chat) {
			this.resilience = resilience;
			this.chat = chat;
		}

		/** The whole text to show, each time that it changes. */
		Flux<String> text(String prompt) {
			return events(prompt).scan("", Answers::render);
		}

		/** For a page that appends "words" and clears its text at a "reset". */
		@GetMapping(path = "/answer", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
		Flux<ServerSentEvent<String>> answer(@RequestParam("prompt") String prompt) {
			return events(prompt).map(Answers::event);
		}

		private Flux<StreamEvent<String>> events(String prompt) {
			return this.resilience.stream("anthropic", () -> this.chat.stream(prompt), () -> this.chat.ask(prompt));
		}

		private static String render(String shown, StreamEvent<String> event) {
			if (event instanceof StreamEvent.Item<String> item) {
				return shown + item.value();
			}
			// All that came before is void: another attempt begins.
			return "";
		}

		private static ServerSentEvent<String> event(StreamEvent<String> event) {
			if (event instanceof StreamEvent.Item<String> item) {
				return ServerSentEvent.builder(item.value()).event("words").build();
			}
			return ServerSentEvent.builder("").event("reset").build();
		}

	}

	static class Tales {

		private final Client client;

		Tales(Client client) {
			this.client = client;
		}

		@LlmRetry("anthropic")
		String tell(String prompt) {
			try (Stream<String> words = this.client.open(prompt)) {
				return words.collect(Collectors.joining());
			}
		}

		@LlmRetry("anthropic")
		void tell(String prompt, Consumer<String> screen) {
			try (Stream<String> words = this.client.open(prompt)) {
				words.forEach((word) -> {
					LlmCall call = LlmCall.current();
					if (call != null) {
						call.sideEffect();
					}
					screen.accept(word);
				});
			}
		}

	}

	static class Annotated {

		private final Chat chat;

		Annotated(Chat chat) {
			this.chat = chat;
		}

		@LlmRetry("anthropic")
		Flux<String> stream(String prompt) {
			return this.chat.stream(prompt);
		}

	}

	static class SharedStream {

		@LlmRetry(value = "anthropic", deduplicate = "#prompt")
		Flux<String> stream(String prompt) {
			return Flux.just(prompt);
		}

	}

	/** A reactive client whose first streams break after a word. */
	static class Chat {

		private int breaks;

		private boolean silent;

		private int streams;

		Flux<String> stream(String prompt) {
			if (this.silent) {
				return Flux.just("Once").concatWith(Flux.never());
			}
			return (this.streams++ < this.breaks) ? Flux.just("Once").concatWith(Flux.error(broken()))
					: Flux.just("Once upon", " a time");
		}

		Mono<String> ask(String prompt) {
			return Mono.just("Once and whole");
		}

	}

	/** A blocking client whose first streams break after a word. */
	static class Client {

		private int breaks;

		private final AtomicInteger opened = new AtomicInteger();

		Stream<String> open(String prompt) {
			int number = this.opened.incrementAndGet();
			return Stream.of("Once", " upon").peek((word) -> {
				if (number <= this.breaks && word.equals(" upon")) {
					throw broken();
				}
			});
		}

	}

	private static HttpServerErrorException broken() {
		return new HttpServerErrorException(HttpStatus.INTERNAL_SERVER_ERROR);
	}

}
