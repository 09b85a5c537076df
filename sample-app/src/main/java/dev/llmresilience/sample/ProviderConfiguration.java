package dev.llmresilience.sample;

import java.time.Duration;

import dev.llmresilience.sample.provider.EmbeddedProvider;
import dev.llmresilience.sample.provider.Limits;

import org.springframework.ai.anthropic.http.okhttp.AnthropicHttpClientBuilderCustomizer;
import org.springframework.ai.openai.http.okhttp.OpenAiHttpClientBuilderCustomizer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The embedded provider and what its clients need.
 */
@Configuration(proxyBeanMethods = false)
class ProviderConfiguration {

	// OkHttp keeps 5 idle connections otherwise and opens the others anew in each burst.
	private static final int IDLE_CONNECTIONS = 1000;

	private static final Duration KEEP_ALIVE = Duration.ofMinutes(5);

	@Bean
	EmbeddedProvider embeddedProvider(@Value("${sample.provider.requests-per-second}") double requestsPerSecond,
			@Value("${sample.provider.burst}") int burst) {
		return EmbeddedProvider.start(new Limits(requestsPerSecond, burst));
	}

	@Bean
	static Upstreams upstreams(ObjectProvider<EmbeddedProvider> provider) {
		return new Upstreams(provider);
	}

	@Bean
	AnthropicHttpClientBuilderCustomizer anthropicConnections() {
		return (client) -> client.maxIdleConnections(IDLE_CONNECTIONS).keepAliveDuration(KEEP_ALIVE);
	}

	@Bean
	OpenAiHttpClientBuilderCustomizer openAiConnections() {
		return (client) -> client.maxIdleConnections(IDLE_CONNECTIONS).keepAliveDuration(KEEP_ALIVE);
	}

}
