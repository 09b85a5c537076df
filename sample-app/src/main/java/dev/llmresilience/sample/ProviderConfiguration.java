package dev.llmresilience.sample;

import java.time.Duration;

import dev.llmresilience.sample.provider.EmbeddedProvider;
import dev.llmresilience.sample.provider.Limits;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.anthropic.http.okhttp.AnthropicHttpClientBuilderCustomizer;
import org.springframework.ai.model.anthropic.autoconfigure.AnthropicConnectionProperties;
import org.springframework.ai.model.openai.autoconfigure.OpenAiCommonProperties;
import org.springframework.ai.openai.http.okhttp.OpenAiHttpClientBuilderCustomizer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The embedded provider, and how the models reach it or the real one.
 */
@Configuration(proxyBeanMethods = false)
class ProviderConfiguration {

	// OkHttp keeps 5 idle connections otherwise and opens the others anew in each burst.
	private static final int IDLE_CONNECTIONS = 2000;

	private static final Duration KEEP_ALIVE = Duration.ofMinutes(5);

	@Bean
	EmbeddedProvider embeddedProvider(@Value("${sample.provider.requests-per-second}") double requestsPerSecond,
			@Value("${sample.provider.burst}") int burst,
			@Value("${sample.provider.tokens-per-minute:#{null}}") @Nullable Integer tokensPerMinute,
			@Value("${sample.provider.headers}") boolean headers) {
		EmbeddedProvider provider = EmbeddedProvider.start(new Limits(requestsPerSecond, burst, null, tokensPerMinute));
		provider.accounts().values().forEach((account) -> account.headers(headers));
		return provider;
	}

	@Bean
	static EmbeddedConnections embeddedConnections(ObjectProvider<EmbeddedProvider> provider) {
		return new EmbeddedConnections(provider);
	}

	@Bean
	Upstream anthropicUpstream(AnthropicConnectionProperties connection, EmbeddedProvider provider) {
		boolean embedded = EmbeddedConnections.isEmbedded(connection.getApiKey());
		return new Upstream("anthropic", embedded ? provider.account("anthropic") : null);
	}

	@Bean
	Upstream openAiUpstream(OpenAiCommonProperties connection, EmbeddedProvider provider) {
		boolean embedded = EmbeddedConnections.isEmbedded(connection.getApiKey());
		return new Upstream("openai", embedded ? provider.account("openai") : null);
	}

	@Bean
	AnthropicHttpClientBuilderCustomizer anthropicHttpClient(Upstream anthropicUpstream) {
		return (client) -> client.maxIdleConnections(IDLE_CONNECTIONS)
			.keepAliveDuration(KEEP_ALIVE)
			.interceptor(new SendOnce())
			.interceptor(anthropicUpstream);
	}

	@Bean
	OpenAiHttpClientBuilderCustomizer openAiHttpClient(Upstream openAiUpstream) {
		return (client) -> client.maxIdleConnections(IDLE_CONNECTIONS)
			.keepAliveDuration(KEEP_ALIVE)
			.interceptor(new SendOnce())
			.interceptor(openAiUpstream);
	}

}
