package dev.llmresilience.docs;

import java.util.List;

import dev.llmresilience.LlmResilience;
import dev.llmresilience.LlmRetry;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.stereotype.Service;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The code of the README, word for word.
 */
class ReadmeTests {

	static List<String> examples() {
		return Page.of("../README.md").blocks("java");
	}

	@ParameterizedTest
	@MethodSource("examples")
	void eachExampleIsCompiled(String example) {
		assertThat(Page.source("ReadmeTests.java")).contains(Page.plain(example));
	}

	@NullUnmarked
	@Service
	static class Summaries {

		private final ChatClient chat;

		Summaries(ChatClient.Builder builder) {
			this.chat = builder.build();
		}

		@LlmRetry("anthropic")
		String summarise(String text) {
			return this.chat.prompt(text).call().content();
		}

	}

	@NullUnmarked
	static class WithoutAnAnnotation {

		private final LlmResilience resilience;

		private final ChatClient chat;

		WithoutAnAnnotation(LlmResilience resilience, ChatClient chat) {
			this.resilience = resilience;
			this.chat = chat;
		}

		String summarise(String text) throws Exception {
			String answer = this.resilience.call("anthropic", () -> this.chat.prompt(text).call().content());
			return answer;
		}

	}

}
