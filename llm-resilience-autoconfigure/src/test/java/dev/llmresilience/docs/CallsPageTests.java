package dev.llmresilience.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmResilience;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.ReactiveLlmResilience;
import dev.llmresilience.StreamEvent;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page on shapes of calls: each of its examples is compiled and run here, word for
 * word.
 */
class CallsPageTests {

	private static final Path PAGE = Path.of("../docs/calls.md");

	private static final Path SOURCE = Path.of("src/test/java/dev/llmresilience/docs/CallsPageTests.java");

	private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class))
		.withPropertyValues("llm.resilience.providers.anthropic.retry.base-delay=1ms",
				"llm.resilience.providers.openai.type=openai")
		.withBean(Chat.class)
		.withBean(Streams.class)
		.withBean(Deadlines.class)
		.withBean(Failover.class)
		.withBean(Shared.class);

	static List<String> examples() throws IOException {
		return JAVA.matcher(Files.readString(PAGE)).results().map((found) -> found.group(1)).toList();
	}

	@ParameterizedTest
	@MethodSource("examples")
	void eachExampleIsCompiled(String example) throws IOException {
		assertThat(plain(Files.readString(SOURCE))).contains(plain(example));
	}

	/** Without what the formatter decides. */
	private static String plain(String code) {
		return code.replaceAll("\\s+", "");
	}

	@Test
	void theExamplesDoWhatThePageSays() {
		this.runner.run((context) -> {
			assertThat(context.getBean(Streams.class).answer("prompt").blockLast()).isEqualTo("part 1 part 2");
			assertThat(context.getBean(Deadlines.class).answer("prompt", Duration.ofSeconds(5))).isEqualTo("whole");
			assertThat(context.getBean(Failover.class).summarise("text")).isEqualTo("openai: text");
			assertThat(context.getBean(Shared.class).answer("tenant", "question")).isEqualTo("whole");
		});
	}

	static class Chat {

		Flux<String> stream(String prompt) {
			return Flux.just("part 1 ", "part 2");
		}

		Mono<String> whole(String prompt) {
			return Mono.just("whole");
		}

		String ask(String prompt) {
			return "whole";
		}

	}

	static class Streams {

		private final ReactiveLlmResilience resilience;

		private final ReactiveChat chat = new ReactiveChat();

		Streams(ReactiveLlmResilience resilience) {
			this.resilience = resilience;
		}

		Flux<String> answer(String prompt) {
			StringBuilder shown = new StringBuilder();
			return this.resilience.stream("anthropic", () -> this.chat.stream(prompt), () -> this.chat.ask(prompt))
				.map((event) -> {
					if (event instanceof StreamEvent.Item<String> item) {
						shown.append(item.value());
					}
					else {
						// All that came before is void: another attempt begins.
						shown.setLength(0);
					}
					return shown.toString();
				});
		}

	}

	static class ReactiveChat {

		Flux<String> stream(String prompt) {
			return new Chat().stream(prompt);
		}

		Mono<String> ask(String prompt) {
			return new Chat().whole(prompt);
		}

	}

	static class Deadlines {

		private final LlmResilience resilience;

		private final Chat chat;

		Deadlines(LlmResilience resilience, Chat chat) {
			this.resilience = resilience;
			this.chat = chat;
		}

		String answer(String prompt, Duration timeLeft) throws Exception {
			return this.resilience.withDeadline(timeLeft, () -> this.chat.ask(prompt));
		}

	}

	/** Of a provider, by its name. */
	interface Model {

		String ask(String text);

	}

	@NullUnmarked
	static class Failover {

		private final Map<String, Model> models = Map.of("anthropic", (text) -> {
			throw new org.springframework.web.client.HttpServerErrorException(
					org.springframework.http.HttpStatus.INTERNAL_SERVER_ERROR);
		}, "openai", (text) -> "openai: " + text);

		@LlmRetry(provider = "anthropic", failover = "openai", fallbackMethod = "shorter")
		String summarise(String text) {
			String provider = LlmCall.current().provider();
			return this.models.get(provider).ask(text);
		}

		String shorter(String text, Throwable failure) {
			return text.substring(0, Math.min(100, text.length()));
		}

	}

	static class Shared {

		private final Chat chat;

		Shared(Chat chat) {
			this.chat = Objects.requireNonNull(chat);
		}

		@LlmRetry(provider = "anthropic", deduplicate = "#tenant + ':' + #question")
		String answer(String tenant, String question) {
			return this.chat.ask(question);
		}

	}

}
