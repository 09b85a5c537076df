package dev.llmresilience.sample;

import java.net.URI;

import dev.llmresilience.sample.provider.EmbeddedProvider;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.ai.model.anthropic.autoconfigure.AnthropicConnectionProperties;
import org.springframework.ai.model.openai.autoconfigure.OpenAiCommonProperties;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Points the models at the embedded provider, except where a real API key is configured.
 * It works on the bound properties because the provider's port is only known at run time.
 */
final class EmbeddedConnections implements BeanPostProcessor {

	/** The API key that stands for the embedded provider. */
	static final String EMBEDDED_KEY = "embedded";

	private static final Logger logger = LoggerFactory.getLogger(EmbeddedConnections.class);

	private final ObjectProvider<EmbeddedProvider> provider;

	EmbeddedConnections(ObjectProvider<EmbeddedProvider> provider) {
		this.provider = provider;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof AnthropicConnectionProperties anthropic && isEmbedded(anthropic.getApiKey())) {
			anthropic.setApiKey(EMBEDDED_KEY);
			anthropic.setBaseUrl(url("Anthropic").toString());
		}
		else if (bean instanceof OpenAiCommonProperties openai && isEmbedded(openai.getApiKey())) {
			openai.setApiKey(EMBEDDED_KEY);
			openai.setBaseUrl(url("OpenAI") + "/v1");
		}
		return bean;
	}

	private URI url(String caller) {
		URI url = this.provider.getObject().url();
		logger.info("{} models call the embedded provider at {}", caller, url);
		return url;
	}

	static boolean isEmbedded(@Nullable String apiKey) {
		return apiKey == null || apiKey.isBlank() || apiKey.equals(EMBEDDED_KEY);
	}

}
