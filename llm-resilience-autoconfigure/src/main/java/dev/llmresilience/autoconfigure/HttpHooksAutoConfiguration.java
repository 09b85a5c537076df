package dev.llmresilience.autoconfigure;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.AnthropicClientAsync;
import com.openai.client.OpenAIClient;
import com.openai.client.OpenAIClientAsync;
import dev.llmresilience.http.AnthropicHook;
import dev.llmresilience.http.OkHttpHook;
import dev.llmresilience.http.OpenAiHook;
import dev.llmresilience.http.ResponseLimits;
import dev.llmresilience.http.RestClientHook;
import dev.llmresilience.http.WebClientHook;
import dev.llmresilience.time.TimeSource;
import okhttp3.Interceptor;

import org.springframework.ai.anthropic.http.okhttp.AnthropicHttpClientBuilderCustomizer;
import org.springframework.ai.openai.http.okhttp.OpenAiHttpClientBuilderCustomizer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.restclient.RestClientCustomizer;
import org.springframework.boot.restclient.RestTemplateCustomizer;
import org.springframework.boot.webclient.WebClientCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.client.RestClient;
import org.springframework.web.reactive.function.client.WebClient;

/**
 * Auto-configuration of the hooks in HTTP clients, for each library that is there: in the
 * builders that Spring Boot makes, in the models of Spring AI, and in clients of the
 * providers' own SDKs that are beans. The hooks are beans too, for clients that are made
 * by hand.
 */
@AutoConfiguration(after = LlmResilienceAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "llm.resilience.enabled", matchIfMissing = true)
@ConditionalOnBean(TimeSource.class)
public final class HttpHooksAutoConfiguration {

	HttpHooksAutoConfiguration() {
	}

	@Bean
	ResponseLimits llmResponseLimits(TimeSource time) {
		return new ResponseLimits(time);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(RestClient.class)
	static class RestClientHooks {

		@Bean
		RestClientHook llmRestClientHook(ResponseLimits limits) {
			return new RestClientHook(limits);
		}

		@Configuration(proxyBeanMethods = false)
		@ConditionalOnClass(RestClientCustomizer.class)
		static class Builders {

			@Bean
			RestClientCustomizer llmRestClientCustomizer(RestClientHook hook) {
				return (builder) -> builder.requestInterceptor(hook);
			}

			@Bean
			RestTemplateCustomizer llmRestTemplateCustomizer(RestClientHook hook) {
				return (template) -> template.getInterceptors().add(hook);
			}

		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(WebClient.class)
	static class WebClientHooks {

		@Bean
		WebClientHook llmWebClientHook(ResponseLimits limits) {
			return new WebClientHook(limits);
		}

		@Configuration(proxyBeanMethods = false)
		@ConditionalOnClass(WebClientCustomizer.class)
		static class Builders {

			@Bean
			WebClientCustomizer llmWebClientCustomizer(WebClientHook hook) {
				return (builder) -> builder.filter(hook);
			}

		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Interceptor.class)
	static class OkHttpHooks {

		@Bean
		OkHttpHook llmOkHttpHook(ResponseLimits limits) {
			return new OkHttpHook(limits);
		}

		@Configuration(proxyBeanMethods = false)
		@ConditionalOnClass(AnthropicHttpClientBuilderCustomizer.class)
		static class AnthropicModels {

			@Bean
			AnthropicHttpClientBuilderCustomizer llmAnthropicHttpClientCustomizer(OkHttpHook hook) {
				return (builder) -> builder.interceptor(hook);
			}

		}

		@Configuration(proxyBeanMethods = false)
		@ConditionalOnClass(OpenAiHttpClientBuilderCustomizer.class)
		static class OpenAiModels {

			@Bean
			OpenAiHttpClientBuilderCustomizer llmOpenAiHttpClientCustomizer(OkHttpHook hook) {
				return (builder) -> builder.interceptor(hook);
			}

		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(AnthropicClient.class)
	static class AnthropicClients {

		@Bean
		AnthropicHook llmAnthropicHook(ResponseLimits limits) {
			return new AnthropicHook(limits);
		}

		@Bean
		static ClientPostProcessor llmAnthropicClientPostProcessor(ObjectProvider<AnthropicHook> hook) {
			return new ClientPostProcessor((bean) -> {
				if (bean instanceof AnthropicClient client) {
					return hook.getObject().observe(client);
				}
				return (bean instanceof AnthropicClientAsync client) ? hook.getObject().observe(client) : bean;
			});
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(OpenAIClient.class)
	static class OpenAiClients {

		@Bean
		OpenAiHook llmOpenAiHook(ResponseLimits limits) {
			return new OpenAiHook(limits);
		}

		@Bean
		static ClientPostProcessor llmOpenAiClientPostProcessor(ObjectProvider<OpenAiHook> hook) {
			return new ClientPostProcessor((bean) -> {
				if (bean instanceof OpenAIClient client) {
					return hook.getObject().observe(client);
				}
				return (bean instanceof OpenAIClientAsync client) ? hook.getObject().observe(client) : bean;
			});
		}

	}

}
