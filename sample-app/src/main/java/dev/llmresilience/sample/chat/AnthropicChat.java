package dev.llmresilience.sample.chat;

import java.util.Objects;

import dev.llmresilience.LlmRetry;
import dev.llmresilience.sample.Upstream;
import dev.llmresilience.sample.provider.EmbeddedProvider;

import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Service;

/**
 * Asks Anthropic.
 */
@Service
class AnthropicChat implements Chat {

	private final Upstream upstream;

	private final AnthropicChatModel model;

	private final ChatClient client;

	AnthropicChat(@Qualifier("anthropicUpstream") Upstream upstream, AnthropicChatModel model) {
		this.upstream = upstream;
		this.model = model;
		this.client = ChatClient.create(model);
	}

	@Override
	public Upstream upstream() {
		return this.upstream;
	}

	@Override
	@LlmRetry("anthropic")
	public String ask(String prompt) {
		return Objects.requireNonNullElse(this.client.prompt(prompt).call().content(), "");
	}

	@Override
	public void warmUp() {
		this.model.call(
				new Prompt("warm up", this.model.getOptions().mutate().model(EmbeddedProvider.WARM_UP_MODEL).build()));
	}

}
