package dev.llmresilience.docs;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCreateParams;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.llmresilience.LlmRetry;
import org.jspecify.annotations.NullUnmarked;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Service;
import org.springframework.web.client.RestClient;

/**
 * The examples of the page on getting started, word for word.
 */
@NullUnmarked
final class GettingStartedPageExamples {

	private GettingStartedPageExamples() {
	}

	record Question(String text) {
	}

	@Service
	static class Summaries {

		private final RestClient client;

		Summaries(RestClient.Builder builder, @Value("${anthropic.url}") String url) {
			this.client = builder.baseUrl(url).build();
		}

		@LlmRetry("anthropic")
		String summarise(String text) {
			return this.client.post().uri("/v1/messages").body(new Question(text)).retrieve().body(String.class);
		}

	}

	static class OverSpringAi {

		private final ChatClient chat;

		OverSpringAi(ChatClient.Builder builder) {
			this.chat = builder.build();
		}

		@LlmRetry("anthropic")
		String summarise(String text) {
			return this.chat.prompt(text).call().content();
		}

		@LlmRetry(value = "anthropic", timeout = "20s")
		String answer(String question) {
			return this.chat.prompt(question).call().content();
		}

	}

	static class OverLangChain4j {

		private final OpenAiChatModel model;

		OverLangChain4j(OpenAiChatModel model) {
			this.model = model;
		}

		@LlmRetry("openai")
		String summarise(String text) {
			return this.model.chat(text);
		}

	}

	static class OverSdk {

		private final AnthropicClient client;

		OverSdk(AnthropicClient client) {
			this.client = client;
		}

		@LlmRetry("anthropic")
		Message summarise(MessageCreateParams request) {
			return this.client.messages().create(request);
		}

	}

	static class Clients {

		@Bean
		OpenAiChatModel openAiModel(@Value("${openai.key}") String key) {
			return OpenAiChatModel.builder().apiKey(key).modelName("gpt-5-mini").maxRetries(0).build();
		}

		@Bean
		AnthropicClient anthropic(@Value("${anthropic.key}") String key) {
			return AnthropicOkHttpClient.builder().apiKey(key).maxRetries(0).build();
		}

		@Bean
		OpenAIClient openAi(@Value("${openai.key}") String key) {
			return OpenAIOkHttpClient.builder().apiKey(key).maxRetries(0).build();
		}

	}

}
