package dev.llmresilience.autoconfigure;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.models.messages.MessageCreateParams;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import dev.llmresilience.LlmResilience;
import dev.llmresilience.LlmRetry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.model.anthropic.autoconfigure.AnthropicChatAutoConfiguration;
import org.springframework.ai.model.ollama.autoconfigure.OllamaApiAutoConfiguration;
import org.springframework.ai.model.ollama.autoconfigure.OllamaChatAutoConfiguration;
import org.springframework.ai.model.openai.autoconfigure.OpenAiChatAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.ai.retry.autoconfigure.SpringAiRetryAutoConfiguration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.http.client.autoconfigure.imperative.ImperativeHttpClientAutoConfiguration;
import org.springframework.boot.restclient.autoconfigure.RestClientAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * What arrives at a provider when others retry the same call, counted there, and what the
 * line at the start says of it.
 */
@ExtendWith(OutputCaptureExtension.class)
class RetryLayersRequestsTests {

	static Stream<Client> clients() {
		return Stream.of(
				new Client("anthropic", "the bean 'anthropic'", 12, AnthropicSdk.class, Map.of(),
						(context) -> context.getBean(AnthropicClient.class).messages().create(message())),
				new Client("openai", "the bean 'openAi'", 12, OpenAiSdk.class, Map.of(),
						(context) -> context.getBean(OpenAIClient.class).chat().completions().create(completion())),
				new Client("openai", "spring.ai.openai.max-retries", 16, SpringAiOpenAi.class, Map.of(),
						RetryLayersRequestsTests::chat),
				new Client("openai", "spring.ai.openai.chat.max-retries", 12, SpringAiOpenAi.class,
						Map.of("spring.ai.openai.chat.max-retries", "2"), RetryLayersRequestsTests::chat),
				new Client("ollama", "spring.ai.retry.max-attempts", 44, SpringAiOllama.class, Map.of(),
						RetryLayersRequestsTests::chat));
	}

	@ParameterizedTest
	@MethodSource("clients")
	void asManyArriveAsTheLineSays(Client client, CapturedOutput output) {
		assertThat(client.requests(500, Map.of())).isEqualTo(client.most());
		assertThat(lines(output)).singleElement()
			.asString()
			.contains(client.found(), "'" + client.provider() + "'", " " + client.most() + " requests");
	}

	@ParameterizedTest
	@MethodSource("clients")
	void asManyArriveAsThereAreAttemptsOnceTheRetriesAreTakenOver(Client client, CapturedOutput output) {
		assertThat(client.requests(500, Map.of("llm.resilience.layers", "take-over"))).isEqualTo(4);
		assertThat(lines(output)).isEmpty();
	}

	/**
	 * Cases C83, C85 and C87: four attempts became twelve requests (nanobot#2760); a
	 * number of retries counted in two layers (litellm#34129); retries set to none, and
	 * the layer below made three more (semantic-kernel#2192).
	 */
	@ParameterizedTest(name = "{0} attempts at a {1}")
	@CsvSource({ "4, 429", "6, 500", "1, 429", "1, 500" })
	void eachAttemptIsOneRequestOnceTheRetriesAreTakenOver(int attempts, int status) {
		assertThat(clients()).allSatisfy((client) -> {
			String retry = "llm.resilience.providers." + client.provider() + ".retry.";
			assertThat(client.requests(status, Map.of("llm.resilience.layers", "take-over", retry + "max-attempts",
					String.valueOf(attempts), retry + "rate-limit-retries", String.valueOf(attempts - 1))))
				.isEqualTo(attempts);
		});
	}

	/** Case X8. It waits a second before it does. */
	@Test
	void apachesClientSendsAPostAgainByItself(CapturedOutput output) {
		Client client = new Client("anthropic", "the bean 'clientHttpRequestFactoryBuilder'", 2, OverRestClient.class,
				Map.of("spring.http.clients.imperative.factory", "http-components",
						"llm.resilience.providers.anthropic.retry.max-attempts", "1"),
				RetryLayersRequestsTests::post);
		assertThat(client.requests(503, Map.of())).isEqualTo(2);
		assertThat(lines(output)).singleElement().asString().contains(client.found(), " 2 requests (1 x 2)");
	}

	/**
	 * A limit that the page on layers names: there is no switch for it.
	 */
	@ParameterizedTest
	@MethodSource("clients")
	void okHttpBelowSpringAisModelOfOpenAiSendsOnceMoreAfterA408(Client client) {
		boolean resent = client.configuration() == SpringAiOpenAi.class;
		assertThat(client.requests(408,
				Map.of("llm.resilience.layers", "take-over",
						"llm.resilience.providers." + client.provider() + ".retry.max-attempts", "1")))
			.isEqualTo(resent ? 2 : 1);
	}

	/**
	 * Case C84: three layers of three, three and five made 45 requests (code_puppy#317).
	 */
	@Test
	void ofNestedAnnotatedMethodsOnlyTheInnermostRetries() {
		try (CountingProvider provider = new CountingProvider(500);
				ConfigurableApplicationContext context = new Starts().with(Nested.class)
					.with("llm.resilience.providers.default.retry.base-delay", "1ms")
					.with("llm.resilience.providers.default.retry.retry-after-spread", "0s")
					.with("llm.resilience.providers.outer.retry.max-attempts", 3)
					.with("llm.resilience.providers.middle.retry.max-attempts", 3)
					.with("llm.resilience.providers.inner.retry.max-attempts", 5)
					.run()) {
			assertThatException().isThrownBy(() -> context.getBean(Outer.class).call(provider.url()));
			assertThat(provider.requests()).isEqualTo(5);
		}
	}

	private static List<String> lines(CapturedOutput output) {
		return output.toString().lines().filter((line) -> line.contains("Retries multiply")).toList();
	}

	private static @Nullable Object chat(ApplicationContext context) {
		return context.getBean(ChatModel.class).call("hello");
	}

	private static @Nullable Object post(ApplicationContext context) {
		return context.getBean(RestClient.class)
			.post()
			.uri(context.getEnvironment().getRequiredProperty("provider.url"))
			.body("hello")
			.retrieve()
			.body(String.class);
	}

	private static MessageCreateParams message() {
		return MessageCreateParams.builder().model("claude-x").maxTokens(1).addUserMessage("hello").build();
	}

	private static ChatCompletionCreateParams completion() {
		return ChatCompletionCreateParams.builder().model("gpt-x").addUserMessage("hello").build();
	}

	/** Makes one request. */
	@FunctionalInterface
	interface Call {

		@Nullable Object in(ApplicationContext context);

	}

	record Client(String provider, String found, int most, Class<?> configuration, Map<String, String> properties,
			Call call) {

		int requests(int status, Map<String, String> more) {
			try (CountingProvider provider = new CountingProvider(status)) {
				Starts starts = new Starts().with(this.configuration)
					.with("provider.url", provider.url())
					.with("spring.ai.model.chat", this.provider)
					.with("spring.ai." + this.provider + ".base-url", provider.url())
					.with("spring.ai." + this.provider + ".api-key", "test")
					.with("spring.http.clients.imperative.factory", "jdk")
					.with("spring.ai.retry.backoff.initial-interval", "1ms")
					.with("spring.ai.retry.backoff.max-interval", "1ms")
					.with("logging.level.org.springframework.ai", "error")
					.with("llm.resilience.providers." + this.provider + ".retry.max-attempts", 4)
					.with("llm.resilience.providers." + this.provider + ".retry.rate-limit-retries", 0)
					.with("llm.resilience.providers." + this.provider + ".retry.base-delay", "1ms")
					.with("llm.resilience.providers." + this.provider + ".retry.rate-limit-base-delay", "1ms")
					.with("llm.resilience.providers." + this.provider + ".retry.retry-after-spread", "0s");
				this.properties.forEach(starts::with);
				more.forEach(starts::with);
				try (ConfigurableApplicationContext context = starts.run()) {
					assertThatException().isThrownBy(() -> context.getBean(LlmResilience.class)
						.call(this.provider, () -> this.call.in(context)));
				}
				return provider.requests();
			}
		}

		@Override
		public String toString() {
			return this.configuration.getSimpleName() + " " + this.properties;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ HttpHooksAutoConfiguration.class, RetryLayersAutoConfiguration.class })
	static class Layered {

	}

	@Configuration(proxyBeanMethods = false)
	static class AnthropicSdk extends Layered {

		@Bean
		AnthropicClient anthropic(@Value("${provider.url}") String url) {
			return AnthropicOkHttpClient.builder().apiKey("test").baseUrl(url).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OpenAiSdk extends Layered {

		@Bean
		OpenAIClient openAi(@Value("${provider.url}") String url) {
			return OpenAIOkHttpClient.builder().apiKey("test").baseUrl(url).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ AnthropicChatAutoConfiguration.class, ToolCallingAutoConfiguration.class })
	static class SpringAiAnthropic extends Layered {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ OpenAiChatAutoConfiguration.class, ToolCallingAutoConfiguration.class })
	static class SpringAiOpenAi extends Layered {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ OllamaApiAutoConfiguration.class, OllamaChatAutoConfiguration.class,
			SpringAiRetryAutoConfiguration.class, ToolCallingAutoConfiguration.class, RestClientAutoConfiguration.class,
			ImperativeHttpClientAutoConfiguration.class })
	static class SpringAiOllama extends Layered {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ RestClientAutoConfiguration.class, ImperativeHttpClientAutoConfiguration.class })
	static class OverRestClient extends Layered {

		@Bean
		RestClient chat(RestClient.Builder builder) {
			return builder.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Outer.class, Middle.class, Inner.class })
	static class Nested extends Layered {

	}

	static class Outer {

		private final Middle middle;

		Outer(Middle middle) {
			this.middle = middle;
		}

		@LlmRetry("outer")
		public @Nullable Object call(String url) {
			return this.middle.call(url);
		}

	}

	static class Middle {

		private final Inner inner;

		Middle(Inner inner) {
			this.inner = inner;
		}

		@LlmRetry("middle")
		public @Nullable Object call(String url) {
			return this.inner.call(url);
		}

	}

	static class Inner {

		@LlmRetry("inner")
		public @Nullable Object call(String url) {
			return RestClient.create(url).get().retrieve().body(String.class);
		}

	}

}
