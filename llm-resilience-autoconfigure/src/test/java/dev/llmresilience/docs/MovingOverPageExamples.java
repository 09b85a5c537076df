package dev.llmresilience.docs;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.llmresilience.LlmRetry;
import io.github.resilience4j.circuitbreaker.annotation.CircuitBreaker;
import io.github.resilience4j.ratelimiter.annotation.RateLimiter;
import io.github.resilience4j.retry.annotation.Retry;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.web.client.HttpServerErrorException;

/**
 * The examples of the page on moving over, word for word.
 */
final class MovingOverPageExamples {

	@Bean
	ChatModel chatModel(@Value("${openai.url}") String url, @Value("${openai.key}") String key) {
		return OpenAiChatModel.builder().baseUrl(url).apiKey(key).modelName("gpt-5-mini").maxRetries(0).build();
	}

	/** A model that is down. */
	static class Model {

		String ask(String text) {
			throw new HttpServerErrorException(HttpStatus.INTERNAL_SERVER_ERROR);
		}

	}

	static class Before {

		private final Model model = new Model();

		// before
		@Retry(name = "anthropic", fallbackMethod = "shorter")
		@CircuitBreaker(name = "anthropic")
		@RateLimiter(name = "anthropic")
		String summarise(String text) {
			return this.model.ask(text);
		}

		String shorter(String text, Exception failure) {
			return text.substring(0, 1);
		}

	}

	static class After {

		private final Model model = new Model();

		// after
		@LlmRetry(value = "anthropic", fallbackMethod = "shorter")
		String summarise(String text) {
			return this.model.ask(text);
		}

		String shorter(String text, Throwable failure) {
			return text.substring(0, 1);
		}

	}

}
