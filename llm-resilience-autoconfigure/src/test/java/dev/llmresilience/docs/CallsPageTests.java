package dev.llmresilience.docs;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmResilience;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page on shapes of calls: each of its examples is compiled and run here, word for
 * word.
 */
class CallsPageTests {

	private static final Page PAGE = Page.of("calls.md");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class))
		.withPropertyValues("llm.resilience.providers.anthropic.retry.base-delay=1ms",
				"llm.resilience.providers.openai.type=openai")
		.withBean(Chat.class)
		.withBean(Deadlines.class)
		.withBean(Failover.class)
		.withBean(Shared.class);

	static List<String> examples() {
		return PAGE.blocks("java");
	}

	@ParameterizedTest
	@MethodSource("examples")
	void eachExampleIsCompiled(String example) {
		assertThat(Page.source("CallsPageTests.java")).contains(Page.plain(example));
	}

	@Test
	void theExamplesDoWhatThePageSays() {
		this.runner.run((context) -> {
			assertThat(context.getBean(Deadlines.class).answer("prompt", Duration.ofSeconds(5))).isEqualTo("whole");
			assertThat(context.getBean(Failover.class).summarise("text")).isEqualTo("openai: text");
			assertThat(context.getBean(Shared.class).answer("tenant", "question")).isEqualTo("whole");
		});
	}

	static class Chat {

		String ask(String prompt) {
			return "whole";
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
