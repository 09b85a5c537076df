package dev.llmresilience.autoconfigure;

import com.anthropic.client.AnthropicClient;
import com.openai.client.OpenAIClient;
import dev.llmresilience.aop.LlmRetryMethods;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Layers;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Mode;
import dev.llmresilience.autoconfigure.HttpComponentsLayers.HttpClients;
import dev.llmresilience.engine.Providers;
import okhttp3.OkHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClientBuilder;

import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.model.Model;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.http.client.autoconfigure.ClientHttpRequestFactoryBuilderCustomizer;
import org.springframework.boot.thread.Threading;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.web.client.RestTemplate;

/**
 * Auto-configuration of the look at other layers that retry protected calls, for each
 * library that is there.
 */
@AutoConfiguration(after = LlmResilienceAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "llm.resilience.enabled", matchIfMissing = true)
@ConditionalOnBean(Providers.class)
public final class RetryLayersAutoConfiguration {

	RetryLayersAutoConfiguration() {
	}

	@Bean
	RetryLayers llmRetryLayers(LlmResilienceProperties properties, Providers providers, LlmRetryMethods methods,
			ObjectProvider<RetryLayerFinder> finders, Environment environment) {
		return new RetryLayers(layers(properties), providers, methods, finders.orderedStream().toList(),
				new DeafClients(Threading.VIRTUAL.isActive(environment)));
	}

	@Bean
	AnnotationLayers llmAnnotationLayers(LlmRetryMethods methods, ConfigurableListableBeanFactory beans,
			Environment environment) {
		return new AnnotationLayers(methods, beans, environment);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Model.class)
	static class SpringAi {

		@Bean
		SpringAiLayers llmSpringAiLayers(ConfigurableListableBeanFactory beans, Environment environment) {
			return new SpringAiLayers(beans, environment);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(AnthropicClient.class)
	static class Anthropic {

		@Bean
		AnthropicLayers llmAnthropicLayers(ConfigurableListableBeanFactory beans) {
			return new AnthropicLayers(beans);
		}

		@Bean
		static RetriesOff llmAnthropicRetriesOff(Environment environment) {
			return new RetriesOff(environment, AnthropicLayers::withoutRetries);
		}

		@Configuration(proxyBeanMethods = false)
		@ConditionalOnClass(AnthropicChatModel.class)
		static class SpringAiModels {

			@Bean
			SpringAiAnthropicLayers llmSpringAiAnthropicLayers(ConfigurableListableBeanFactory beans) {
				return new SpringAiAnthropicLayers(beans);
			}

		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(OpenAIClient.class)
	static class OpenAi {

		@Bean
		OpenAiLayers llmOpenAiLayers(ConfigurableListableBeanFactory beans) {
			return new OpenAiLayers(beans);
		}

		@Bean
		static RetriesOff llmOpenAiRetriesOff(Environment environment) {
			return new RetriesOff(environment, OpenAiLayers::withoutRetries);
		}

		@Configuration(proxyBeanMethods = false)
		@ConditionalOnClass(OpenAiChatModel.class)
		static class SpringAiModels {

			@Bean
			SpringAiOpenAiLayers llmSpringAiOpenAiLayers(ConfigurableListableBeanFactory beans) {
				return new SpringAiOpenAiLayers(beans);
			}

		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(OkHttpClient.class)
	static class OkHttp {

		@Bean
		OkHttpLayers llmOkHttpLayers(ConfigurableListableBeanFactory beans) {
			return new OkHttpLayers(beans);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(HttpClientBuilder.class)
	static class HttpComponents {

		@Bean
		HttpComponentsLayers llmHttpComponentsLayers(ConfigurableListableBeanFactory beans,
				ObjectProvider<HttpClients> users) {
			return new HttpComponentsLayers(beans, users);
		}

		@Configuration(proxyBeanMethods = false)
		@ConditionalOnClass(RestTemplate.class)
		static class RequestFactories {

			@Bean
			RequestFactoryClients llmRequestFactoryClients(ConfigurableListableBeanFactory beans) {
				return new RequestFactoryClients(beans);
			}

			@Configuration(proxyBeanMethods = false)
			@ConditionalOnClass(ClientHttpRequestFactoryBuilderCustomizer.class)
			static class Builders {

				@Bean
				BootHttpClients llmBootHttpClients() {
					return new BootHttpClients();
				}

			}

		}

	}

	/** Where nothing is done to calls, nothing is done to what is below them either. */
	private static Layers layers(LlmResilienceProperties properties) {
		boolean observes = properties.mode() == Mode.OBSERVE;
		return (observes && properties.layers() == Layers.TAKE_OVER) ? Layers.WARN : properties.layers();
	}

}
