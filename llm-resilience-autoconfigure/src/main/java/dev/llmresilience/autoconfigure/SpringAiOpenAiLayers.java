package dev.llmresilience.autoconfigure;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The retries of OpenAI's SDK in Spring AI's models that the application makes itself, as
 * far as their options say: a model does not show its client.
 */
final class SpringAiOpenAiLayers implements RetryLayerFinder {

	private final ConfigurableListableBeanFactory beans;

	SpringAiOpenAiLayers(ConfigurableListableBeanFactory beans) {
		this.beans = beans;
	}

	@Override
	public Collection<Finding> find() {
		List<Finding> found = new ArrayList<>();
		MadeBeans.of(this.beans, OpenAiChatModel.class).forEach((name, model) -> {
			String maker = MadeBeans.maker(this.beans, name);
			if (maker == null || !SpringAiProperties.OPENAI_MODELS.containsKey(maker)) {
				found.add(Finding.ofSdk(name, "Spring AI over OpenAI's SDK", model.getOptions().getMaxRetries(),
						Finding.OPENAI, "Write OpenAiChatOptions.builder().maxRetries(0)", false));
			}
		});
		return found;
	}

}
