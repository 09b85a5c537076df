package dev.llmresilience.sample.chat;

import java.util.Map;
import java.util.Objects;

import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmRetry;
import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.stereotype.Service;

/**
 * Asks Anthropic, and OpenAI when Anthropic cannot answer.
 */
@Service
public class EitherChat {

	private final Map<String, ChatClient> clients;

	EitherChat(AnthropicChatModel anthropic, OpenAiChatModel openAi) {
		this.clients = Map.of("anthropic", ChatClient.create(anthropic), "openai", ChatClient.create(openAi));
	}

	/**
	 * Asks the model of the provider that the call is for.
	 * @param prompt the question
	 * @return the answer, and who gave it
	 */
	@LlmRetry(provider = "anthropic", failover = "openai")
	public Answer ask(String prompt) {
		String provider = Objects.requireNonNull(LlmCall.current()).provider();
		String content = Objects.requireNonNull(this.clients.get(provider)).prompt(prompt).call().content();
		return new Answer(Objects.requireNonNullElse(content, ""), provider);
	}

	/**
	 * An answer.
	 *
	 * @param answer the model's text
	 * @param provider who gave it
	 */
	public record Answer(String answer, String provider) {
	}

}
