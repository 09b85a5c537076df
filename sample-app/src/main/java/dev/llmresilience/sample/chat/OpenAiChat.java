package dev.llmresilience.sample.chat;

import java.time.Duration;
import java.util.Objects;

import dev.llmresilience.LlmRetry;
import dev.llmresilience.sample.Upstream;
import dev.llmresilience.sample.provider.EmbeddedProvider;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;

/**
 * Asks OpenAI.
 */
@Service
class OpenAiChat implements Chat {

	private final Upstream upstream;

	private final OpenAiChatModel model;

	private final ChatClient client;

	OpenAiChat(@Qualifier("openAiUpstream") Upstream upstream, OpenAiChatModel model,
			@Value("${spring.ai.openai.timeout}") Duration timeout) {
		this.upstream = upstream;
		this.model = model;
		// Spring AI 2.0.1 sends the options' own 60 seconds with each request and so
		// overrides the property, unless the options say the same as the property.
		this.client = ChatClient.builder(model).defaultOptions(model.getOptions().mutate().timeout(timeout)).build();
	}

	@Override
	public Upstream upstream() {
		return this.upstream;
	}

	@Override
	@LlmRetry("openai")
	public String ask(String prompt) {
		return Objects.requireNonNullElse(this.client.prompt(prompt).call().content(), "");
	}

	@Override
	public void warmUp() {
		this.model.call(
				new Prompt("warm up", this.model.getOptions().mutate().model(EmbeddedProvider.WARM_UP_MODEL).build()));
	}

}
