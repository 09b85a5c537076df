package dev.llmresilience.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import com.anthropic.backends.AnthropicBackend;
import com.anthropic.client.AnthropicClient;
import com.anthropic.client.AnthropicClientAsync;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClientAsync;
import com.anthropic.core.http.Interceptor;
import com.openai.client.OpenAIClient;
import com.openai.client.OpenAIClientAsync;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.client.okhttp.OpenAIOkHttpClientAsync;
import dev.llmresilience.http.AnthropicHook;
import dev.llmresilience.http.OkHttpHook;
import dev.llmresilience.http.OpenAiHook;
import dev.llmresilience.http.RestClientHook;
import dev.llmresilience.http.WebClientHook;
import okhttp3.OkHttpClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.ai.anthropic.http.okhttp.AnthropicHttpClientBuilderCustomizer;
import org.springframework.ai.anthropic.http.okhttp.SpringAiAnthropicHttpClient;
import org.springframework.ai.openai.http.okhttp.OpenAiHttpClientBuilderCustomizer;
import org.springframework.ai.openai.http.okhttp.SpringAiOpenAiHttpClient;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.restclient.RestTemplateBuilder;
import org.springframework.boot.restclient.autoconfigure.RestClientAutoConfiguration;
import org.springframework.boot.restclient.autoconfigure.RestTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webclient.autoconfigure.WebClientAutoConfiguration;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.test.util.ReflectionTestUtils;
import org.springframework.web.client.RestClient;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.WebClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which clients have a hook without anybody doing anything.
 */
@ExtendWith(OutputCaptureExtension.class)
class HttpHooksAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class,
				HttpHooksAutoConfiguration.class, RestClientAutoConfiguration.class,
				RestTemplateAutoConfiguration.class, WebClientAutoConfiguration.class));

	@Test
	void clientsFromBootsBuilders() {
		this.runner.run((context) -> {
			List<ClientHttpRequestInterceptor> interceptors = new ArrayList<>();
			context.getBean(RestClient.Builder.class).requestInterceptors(interceptors::addAll);
			assertThat(interceptors).containsExactly(context.getBean(RestClientHook.class));
			assertThat(context.getBean(RestTemplateBuilder.class).build().getInterceptors())
				.containsExactly(context.getBean(RestClientHook.class));
			List<ExchangeFilterFunction> filters = new ArrayList<>();
			context.getBean(WebClient.Builder.class).filters(filters::addAll);
			assertThat(filters).containsExactly(context.getBean(WebClientHook.class));
		});
	}

	@Test
	void modelsOfSpringAi() {
		this.runner.run((context) -> {
			OkHttpHook hook = context.getBean(OkHttpHook.class);
			SpringAiAnthropicHttpClient.Builder anthropic = SpringAiAnthropicHttpClient.builder()
				.backend(AnthropicBackend.builder().apiKey("test").build());
			context.getBean(AnthropicHttpClientBuilderCustomizer.class).customize(anthropic);
			assertThat(interceptors(anthropic.build())).contains(hook);
			SpringAiOpenAiHttpClient.Builder openAi = SpringAiOpenAiHttpClient.builder();
			context.getBean(OpenAiHttpClientBuilderCustomizer.class).customize(openAi);
			assertThat(interceptors(openAi.build())).contains(hook);
		});
	}

	@Test
	void clientsOfTheSdksThatAreBeans() {
		AnthropicClient anthropic = AnthropicOkHttpClient.builder().apiKey("test").maxRetries(7).build();
		AnthropicClientAsync anthropicAsync = AnthropicOkHttpClientAsync.builder().apiKey("test").build();
		OpenAIClient openAi = OpenAIOkHttpClient.builder().apiKey("test").build();
		OpenAIClientAsync openAiAsync = OpenAIOkHttpClientAsync.builder().apiKey("test").build();
		this.runner.withBean(AnthropicClient.class, () -> anthropic)
			.withBean(AnthropicClientAsync.class, () -> anthropicAsync)
			.withBean(OpenAIClient.class, () -> openAi)
			.withBean(OpenAIClientAsync.class, () -> openAiAsync)
			.run((context) -> {
				Interceptor hook = context.getBean(AnthropicHook.class);
				assertThat(context.getBean(AnthropicClient.class).options().interceptors()).containsExactly(hook);
				assertThat(context.getBean(AnthropicClient.class).options().maxRetries()).isEqualTo(7);
				assertThat(context.getBean(AnthropicClientAsync.class).options().interceptors()).containsExactly(hook);
				assertThat(context.getBean(OpenAIClient.class)).isNotSameAs(openAi).hasSameClassAs(openAi);
				assertThat(context.getBean(OpenAIClientAsync.class)).isNotSameAs(openAiAsync)
					.hasSameClassAs(openAiAsync);
				assertThat(context).hasSingleBean(OpenAiHook.class);
			});
	}

	@Test
	void clientsThatAreNotTheSdksOwnStayAsTheyAre(CapturedOutput output) {
		OpenAIClient mine = (OpenAIClient) new ProxyFactory(OpenAIOkHttpClient.builder().apiKey("test").build())
			.getProxy();
		this.runner.withBean(OpenAIClient.class, () -> mine).run((context) -> {
			assertThat(context).getBean(OpenAIClient.class).isSameAs(mine);
			assertThat(output).doesNotContain("cannot be hooked into");
		});
	}

	@Test
	void aClientThatCannotBeHookedIntoIsLeftAloneAndNamed(CapturedOutput output) {
		ClientPostProcessor processor = new ClientPostProcessor((bean) -> {
			throw new NoSuchMethodError("secret");
		});
		assertThat(processor.postProcessAfterInitialization(this, "claude")).isSameAs(this);
		assertThat(output).contains("Rate-limit headers of 'claude' are not read").doesNotContain("secret");
	}

	private static List<okhttp3.Interceptor> interceptors(Object httpClient) {
		OkHttpClient client = ReflectionTestUtils.invokeMethod(httpClient, "getOkHttpClient");
		return (client != null) ? client.interceptors() : List.of();
	}

}
