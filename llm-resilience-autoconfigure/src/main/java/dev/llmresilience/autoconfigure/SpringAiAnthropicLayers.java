package dev.llmresilience.autoconfigure;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import com.anthropic.client.AnthropicClient;

import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The retries of Anthropic's SDK in Spring AI's models that the application makes itself.
 */
final class SpringAiAnthropicLayers implements RetryLayerFinder {

	private final ConfigurableListableBeanFactory beans;

	SpringAiAnthropicLayers(ConfigurableListableBeanFactory beans) {
		this.beans = beans;
	}

	/** A client that is a bean is a finding of its own. */
	@Override
	public Collection<Finding> find() {
		Collection<AnthropicClient> clients = MadeBeans.of(this.beans, AnthropicClient.class).values();
		List<Finding> found = new ArrayList<>();
		MadeBeans.of(this.beans, AnthropicChatModel.class).forEach((name, model) -> {
			AnthropicClient client = model.getAnthropicClient();
			if (!SpringAiProperties.ANTHROPIC_MODEL.equals(MadeBeans.maker(this.beans, name))
					&& clients.stream().noneMatch((bean) -> bean == client)) {
				found.add(Finding.ofSdk(name, "Spring AI over Anthropic's SDK", AnthropicLayers.retries(client),
						Finding.ANTHROPIC, "Write AnthropicChatOptions.builder().maxRetries(0)", false));
			}
		});
		return found;
	}

}
