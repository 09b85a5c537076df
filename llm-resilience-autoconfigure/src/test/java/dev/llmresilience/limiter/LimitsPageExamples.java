package dev.llmresilience.limiter;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmResilience;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.Priority;
import dev.llmresilience.TokenEstimator;
import dev.llmresilience.TokenUsage;
import dev.llmresilience.TokenUsageReader;

import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.context.annotation.Bean;
import org.springframework.core.task.AsyncTaskExecutor;

/**
 * The code that the page on limits shows, so that it compiles.
 */
class LimitsPageExamples {

	private final Model model;

	private final Client client;

	private final LlmResilience resilience;

	LimitsPageExamples(Model model, Client client, LlmResilience resilience) {
		this.model = model;
		this.client = client;
		this.resilience = resilience;
	}

	@LlmRetry(value = "anthropic", tokens = "#text.length() / 4 + 500")
	ChatResponse summarise(String text) {
		return this.model.call(new Prompt(text));
	}

	@LlmRetry(value = "anthropic", tokens = "#text.length() / 4 + 500")
	String translate(String text) {
		Answer answer = this.client.translate(text);
		LlmCall call = LlmCall.current();
		if (call != null) {
			call.usedTokens(new TokenUsage(answer.promptTokens(), answer.answerTokens()));
		}
		return answer.text();
	}

	@LlmRetry(value = "anthropic", key = "#tenant")
	String answer(String tenant, String question) {
		return this.model.call(question);
	}

	@LlmRetry(value = "anthropic", priority = Priority.HIGH, timeout = "20s")
	String chat(String question) {
		return this.model.call(question);
	}

	@Bean
	TokenEstimator tokenEstimator() {
		return (method, arguments) -> (arguments[0] instanceof String text) ? text.length() / 4 + 500 : 0;
	}

	@Bean
	TokenUsageReader answerUsage() {
		return (result) -> (result instanceof Answer answer)
				? new TokenUsage(answer.promptTokens(), answer.answerTokens()) : null;
	}

	void slower() {
		this.resilience.setRequestsPerMinute("anthropic", 300);
	}

	/** Stands for a client of one's own. */
	interface Client {

		Answer translate(String text);

	}

	/** Stands for any client. */
	interface Model {

		String call(String text);

		ChatResponse call(Prompt prompt);

	}

	record Answer(String text, long promptTokens, long answerTokens) {
	}

	record Document(String text) {
	}

	static class Labels {

		private final Model model;

		Labels(Model model) {
			this.model = model;
		}

		@LlmRetry(value = "anthropic", priority = Priority.LOW, timeout = "1h")
		String label(Document document) {
			return this.model.call(document.text());
		}

	}

	static class Batch {

		private final AsyncTaskExecutor executor;

		private final Labels labels;

		Batch(AsyncTaskExecutor executor, Labels labels) {
			this.executor = executor;
			this.labels = labels;
		}

		List<CompletableFuture<String>> label(List<Document> documents) {
			return documents.stream()
				.map((document) -> this.executor.submitCompletable(() -> this.labels.label(document)))
				.toList();
		}

	}

}
