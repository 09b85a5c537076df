package dev.llmresilience.autoconfigure;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.AnthropicClientAsync;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClientAsync;
import com.openai.client.OpenAIClient;
import com.openai.client.OpenAIClientAsync;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.client.okhttp.OpenAIOkHttpClientAsync;
import okhttp3.OkHttpClient;
import org.apache.hc.client5.http.classic.HttpClient;
import org.apache.hc.client5.http.impl.DefaultHttpRequestRetryStrategy;
import org.apache.hc.client5.http.impl.classic.HttpClientBuilder;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.util.TimeValue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.anthropic.AnthropicChatOptions;
import org.springframework.ai.model.anthropic.autoconfigure.AnthropicChatAutoConfiguration;
import org.springframework.ai.model.ollama.autoconfigure.OllamaApiAutoConfiguration;
import org.springframework.ai.model.ollama.autoconfigure.OllamaChatAutoConfiguration;
import org.springframework.ai.model.openai.autoconfigure.OpenAiChatAutoConfiguration;
import org.springframework.ai.model.openai.autoconfigure.OpenAiEmbeddingAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.retry.autoconfigure.SpringAiRetryAutoConfiguration;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.http.client.HttpComponentsClientHttpRequestFactoryBuilder;
import org.springframework.boot.http.client.autoconfigure.ClientHttpRequestFactoryBuilderCustomizer;
import org.springframework.boot.http.client.autoconfigure.imperative.ImperativeHttpClientAutoConfiguration;
import org.springframework.boot.restclient.autoconfigure.RestClientAutoConfiguration;
import org.springframework.boot.restclient.autoconfigure.RestTemplateAutoConfiguration;
import org.springframework.boot.restclient.RestTemplateBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.retry.RetryPolicy;
import org.springframework.core.retry.RetryTemplate;
import org.springframework.http.client.HttpComponentsClientHttpRequestFactory;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which layers are found, and what is said of them.
 */
@ExtendWith(OutputCaptureExtension.class)
class RetryLayersTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class,
				HttpHooksAutoConfiguration.class, RetryLayersAutoConfiguration.class))
		.withPropertyValues("llm.resilience.providers.anthropic.retry.max-attempts=4",
				"llm.resilience.providers.anthropic.retry.rate-limit-retries=0");

	@Test
	void theLineNamesTheLayerAndTheProviderAndTheWorstCaseAndWhatToDo(CapturedOutput output) {
		this.runner.withBean("claude", AnthropicClient.class, () -> anthropic(2))
			.run((context) -> assertThat(lines(output)).singleElement()
				.asString()
				.endsWith("Retries multiply: the bean 'claude' (Anthropic's SDK) makes up to 3 tries of each attempt, "
						+ "so one call of 'anthropic' can become 12 requests (4 x 3). "
						+ "Write AnthropicOkHttpClient.builder().maxRetries(0), or set llm.resilience.layers=take-over."));
	}

	@Test
	void whatWasFoundIsABean() {
		this.runner.withBean("claude", AnthropicClient.class, () -> anthropic(2))
			.run((context) -> assertThat(context.getBean(RetryLayers.class).found())
				.containsExactly(new RetryLayer(RetryLayer.Kind.SDK, "claude", 3, "anthropic", 12)));
	}

	/* Clients of the SDKs. */

	static Stream<Arguments> clients() {
		return Stream.of(Arguments.of(AnthropicClient.class, (Retrying) RetryLayersTests::anthropic),
				Arguments.of(AnthropicClientAsync.class, (Retrying) (
						retries) -> AnthropicOkHttpClientAsync.builder().apiKey("test").maxRetries(retries).build()),
				Arguments.of(OpenAIClient.class,
						(Retrying) (
								retries) -> OpenAIOkHttpClient.builder().apiKey("test").maxRetries(retries).build()),
				Arguments.of(OpenAIClientAsync.class, (Retrying) (
						retries) -> OpenAIOkHttpClientAsync.builder().apiKey("test").maxRetries(retries).build()),
				Arguments.of(AnthropicChatModel.class,
						(Retrying) (retries) -> AnthropicChatModel.builder()
							.options(AnthropicChatOptions.builder().apiKey("test").maxRetries(retries).build())
							.build()),
				Arguments.of(OpenAiChatModel.class,
						(Retrying) (retries) -> OpenAiChatModel.builder()
							.options(OpenAiChatOptions.builder().apiKey("test").maxRetries(retries).build())
							.build()));
	}

	@ParameterizedTest
	@MethodSource("clients")
	<T> void theRetriesOfAClientAreFound(Class<T> type, Retrying client) {
		withBoth().withBean("client", type, () -> type.cast(client.with(5)))
			.run((context) -> assertThat(context.getBean(RetryLayers.class).found()).singleElement()
				.satisfies((layer) -> {
					assertThat(layer.name()).isEqualTo("client");
					assertThat(layer.tries()).isEqualTo(6);
				}));
	}

	@ParameterizedTest
	@MethodSource("clients")
	<T> void aClientWithoutRetriesIsNoLayer(Class<T> type, Retrying client) {
		withBoth().withBean("client", type, () -> type.cast(client.with(0)))
			.run((context) -> assertThat(context.getBean(RetryLayers.class).found()).isEmpty());
	}

	@Test
	void aModelOverAClientThatIsABeanIsNoSecondLayer() {
		this.runner.withBean("claude", AnthropicClient.class, () -> anthropic(2))
			.withUserConfiguration(ModelOverClient.class)
			.run((context) -> assertThat(found(context)).containsExactly("claude"));
	}

	@Test
	void nothingIsMadeToBeLookedAt() {
		this.runner.withInitializer((context) -> ((GenericApplicationContext) context).registerBeanDefinition("lazy",
				BeanDefinitionBuilder.genericBeanDefinition(AnthropicClient.class, () -> {
					throw new AssertionError("made");
				}).setLazyInit(true).getBeanDefinition()))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/* What Spring AI configures. */

	@ParameterizedTest(name = "{0} -> {1} tries")
	@CsvSource({ "spring.ai.unrelated=1, 3", "spring.ai.anthropic.max-retries=5, 6" })
	void theRetriesOfSpringAisAnthropicModelAreFound(String property, int tries) {
		springAi().withPropertyValues(property)
			.run((context) -> assertThat(context.getBean(RetryLayers.class).found()).containsExactly(new RetryLayer(
					RetryLayer.Kind.SDK, "spring.ai.anthropic.max-retries", tries, "anthropic", 4L * tries)));
	}

	@Test
	void theClientOfSpringAisAnthropicModelReallyHasAsManyAsTheLineSays() {
		springAi().run((context) -> assertThat(
				context.getBean(AnthropicChatModel.class).getAnthropicClient().options().maxRetries())
			.isEqualTo(SpringAiProperties.ANTHROPIC_DEFAULT));
	}

	@Test
	void aLazyModelOfSpringAiIsALayerToo() {
		springAi()
			.withInitializer((context) -> context.addBeanFactoryPostProcessor(
					(beans) -> beans.getBeanDefinition("anthropicChatModel").setLazyInit(true)))
			.run((context) -> {
				assertThat(found(context)).containsExactly("spring.ai.anthropic.max-retries");
				assertThat(context.getBeanFactory().containsSingleton("anthropicChatModel")).isFalse();
			});
	}

	@Test
	void modelsOfOpenAiThatShareAPropertyAreOneLayer() {
		springAi().withPropertyValues("spring.ai.model.chat=openai", "spring.ai.model.embedding=openai")
			.run((context) -> {
				assertThat(context).hasBean("openAiChatModel").hasBean("openAiEmbeddingModel");
				assertThat(found(context)).containsExactly("spring.ai.openai.max-retries");
			});
	}

	@Test
	void aModelOfOpenAiWithItsOwnPropertyIsALayerOfItsOwn() {
		springAi()
			.withPropertyValues("spring.ai.model.chat=openai", "spring.ai.model.embedding=openai",
					"spring.ai.openai.max-retries=0", "spring.ai.openai.embedding.max-retries=1")
			.run((context) -> assertThat(found(context)).containsExactly("spring.ai.openai.embedding.max-retries"));
	}

	@Test
	void anApplicationsOwnRetryTemplateIsNamed(CapturedOutput output) {
		springAi().withPropertyValues("spring.ai.model.chat=ollama")
			.withBean("mine", RetryTemplate.class, () -> new RetryTemplate(RetryPolicy.withMaxRetries(6)))
			.run((context) -> {
				assertThat(context.getBean(RetryLayers.class).found())
					.contains(new RetryLayer(RetryLayer.Kind.SPRING_AI, "mine", 7, "ollama", 63));
				assertThat(lines(output)).anySatisfy((line) -> assertThat(line).contains("the bean 'mine'")
					.endsWith("Write new RetryTemplate(RetryPolicy.withMaxRetries(0))."));
			});
	}

	@Test
	void aRetryTemplateThatNoModelUsesIsNoLayer() {
		this.runner.withBean(RetryTemplate.class).run((context) -> assertThat(found(context)).isEmpty());
	}

	/* HTTP clients. */

	@Test
	void okHttpSendsARequestOnceMore() {
		this.runner.withBean("http", OkHttpClient.class)
			.run((context) -> assertThat(context.getBean(RetryLayers.class).found())
				.containsExactly(new RetryLayer(RetryLayer.Kind.HTTP_CLIENT, "http", 2, "anthropic", 8)));
		this.runner
			.withBean("http", OkHttpClient.class,
					() -> new OkHttpClient.Builder().retryOnConnectionFailure(false).build())
			.run((context) -> assertThat(found(context)).isEmpty());
	}

	static Stream<Arguments> apacheClients() {
		return Stream.of(Arguments.of(HttpClients.custom(), 2),
				Arguments.of(HttpClients.custom()
					.setRetryStrategy(new DefaultHttpRequestRetryStrategy(3, TimeValue.ofSeconds(1))), 4),
				Arguments.of(HttpClients.custom().disableAutomaticRetries(), 1));
	}

	@ParameterizedTest
	@MethodSource("apacheClients")
	void apachesClientSendsARequestAsOftenAsItsStrategySays(HttpClientBuilder builder, int tries) {
		assertThat(HttpComponentsRetries.tries(builder.build())).isEqualTo(tries);
	}

	@Test
	void apachesClientIsFoundWhereItIsABeanOrBelowOne(CapturedOutput output) {
		Supplier<HttpComponentsClientHttpRequestFactory> factory = HttpComponentsClientHttpRequestFactory::new;
		this.runner.withBean("client", HttpClient.class, HttpClients::createDefault)
			.withBean("factory", HttpComponentsClientHttpRequestFactory.class, factory)
			.withBean("template", RestTemplate.class, () -> {
				RestTemplate template = new RestTemplate(factory.get());
				template.getInterceptors().add((request, body, execution) -> execution.execute(request, body));
				return template;
			})
			.run((context) -> {
				assertThat(found(context)).containsExactly("client", "factory", "template");
				assertThat(lines(output)).hasSize(3)
					.allSatisfy((line) -> assertThat(line).contains("Apache HttpClient", " 8 requests ")
						.endsWith("Call disableAutomaticRetries() on its HttpClientBuilder."));
			});
	}

	@Test
	void aFactoryOverAClientThatIsABeanIsNoSecondLayer() {
		HttpClient client = HttpClients.createDefault();
		this.runner.withBean("client", HttpClient.class, () -> client)
			.withBean("factory", HttpComponentsClientHttpRequestFactory.class,
					() -> new HttpComponentsClientHttpRequestFactory(client))
			.run((context) -> assertThat(found(context)).containsExactly("client"));
	}

	@ParameterizedTest
	@ValueSource(classes = { OverRestClient.class, OverRestTemplate.class })
	void apachesClientIsFoundBelowWhatBootMakes(Class<?> chat) {
		boots().withUserConfiguration(chat)
			.run((context) -> assertThat(found(context)).containsExactly("clientHttpRequestFactoryBuilder"));
	}

	@ParameterizedTest
	@ValueSource(classes = { OverRestClient.class, OverRestTemplate.class })
	void apachesClientIsNoLayerBelowWhatBootMakesOnceItsRetriesAreDisabled(Class<?> chat) {
		boots().withUserConfiguration(chat, RetriesDisabled.class)
			.run((context) -> assertThat(found(context)).isEmpty());
	}

	@Test
	void ofSeveralClientsTheOneThatRetriesIsFound() {
		List<HttpClient> clients = List.of(HttpClients.custom().disableAutomaticRetries().build(),
				HttpClients.createDefault(), HttpClients.createDefault());
		this.runner.withBean("clients", HttpComponentsLayers.HttpClients.class, () -> () -> Map.of("several", clients))
			.run((context) -> assertThat(found(context)).containsExactly("several"));
	}

	@Test
	void apachesClientIsNoLayerWhereNobodyUsesIt() {
		boots().run((context) -> assertThat(found(context)).isEmpty());
		boots().withPropertyValues("spring.http.clients.imperative.factory=jdk")
			.withUserConfiguration(OverRestClient.class)
			.run((context) -> assertThat(found(context)).isEmpty());
	}

	/* Whose calls. */

	@ParameterizedTest(name = "{0} -> {1}")
	@CsvSource(delimiter = '|', textBlock = """
			openai.retry.max-attempts=9                                                 | anthropic 12
			anthropic-batch.retry.max-attempts=9                                        | anthropic-batch 42
			anthropic.retry.max-attempts=1                                              | anthropic 3
			anthropic.type=bedrock                                                      | anthropic 12
			anthropic.type=openai                                                       | none
			""")
	void theEntryIsThatOfTheSdkWithTheMostAttempts(String property, String expected) {
		this.runner.withPropertyValues("llm.resilience.providers." + property)
			.withBean("claude", AnthropicClient.class, () -> anthropic(2))
			.run((context) -> assertThat(context.getBean(RetryLayers.class)
				.found()
				.stream()
				.map((layer) -> layer.provider() + " " + layer.requests())
				.findFirst()
				.orElse("none")).isEqualTo(expected));
	}

	@Test
	void withoutEntriesItIsTheDefault(CapturedOutput output) {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class,
					RetryLayersAutoConfiguration.class))
			.withBean("claude", AnthropicClient.class, () -> anthropic(2))
			.run((context) -> assertThat(lines(output)).singleElement()
				.asString()
				.contains("one call of 'default' can become 27 requests (9 x 3)"));
	}

	@Test
	void retriesThatAreBoundedByTimeAreNotCounted(CapturedOutput output) {
		this.runner.withPropertyValues("llm.resilience.providers.anthropic.retry.rate-limit-max-elapsed=1m")
			.withBean("claude", AnthropicClient.class, () -> anthropic(2))
			.run((context) -> assertThat(lines(output)).singleElement()
				.asString()
				.contains("can become more than 12 requests (4 x 3)"));
	}

	/* What is done. */

	@Test
	void ignoredLayersAreNotLookedFor(CapturedOutput output) {
		this.runner.withPropertyValues("llm.resilience.layers=ignore")
			.withBean("claude", AnthropicClient.class, () -> anthropic(2))
			.run((context) -> {
				assertThat(found(context)).isEmpty();
				assertThat(lines(output)).isEmpty();
				assertThat(context.getBean(AnthropicClient.class).options().maxRetries()).isEqualTo(2);
			});
	}

	@Test
	void whereNoCallIsProtectedThereIsNothingToMultiply(CapturedOutput output) {
		this.runner.withPropertyValues("llm.resilience.enabled=false", "llm.resilience.layers=take-over")
			.withBean("claude", AnthropicClient.class, () -> anthropic(2))
			.run((context) -> {
				assertThat(context).doesNotHaveBean(RetryLayers.class);
				assertThat(lines(output)).isEmpty();
				assertThat(context.getBean(AnthropicClient.class).options().maxRetries()).isEqualTo(2);
			});
	}

	@ParameterizedTest
	@MethodSource("clients")
	<T> void aClientThatCannotBeChangedIsWarnedOfAlthoughRetriesAreTakenOver(Class<T> type, Retrying client,
			CapturedOutput output) {
		boolean model = type.getName().startsWith("org.springframework.ai");
		withBoth().withPropertyValues("llm.resilience.layers=take-over")
			.withBean("client", type,
					() -> type.cast(model ? client.with(2) : new ProxyFactory(client.with(2)).getProxy()))
			.run((context) -> assertThat(lines(output)).singleElement()
				.asString()
				.contains("the bean 'client'")
				.endsWith("builder().maxRetries(0)."));
	}

	@Test
	void aLibraryThatIsNotAsExpectedDoesNotStopTheStart(CapturedOutput output) {
		this.runner.withBean("claude", AnthropicClient.class, () -> anthropic(2))
			.withBean("broken", RetryLayerFinder.class, () -> () -> {
				throw new NoSuchMethodError("secret");
			})
			.run((context) -> {
				assertThat(found(context)).containsExactly("claude");
				assertThat(output).contains("cannot be seen", NoSuchMethodError.class.getName())
					.doesNotContain("secret");
			});
	}

	private ApplicationContextRunner withBoth() {
		return this.runner.withPropertyValues("llm.resilience.providers.openai.retry.max-attempts=4");
	}

	private ApplicationContextRunner boots() {
		return this.runner.withConfiguration(AutoConfigurations.of(ImperativeHttpClientAutoConfiguration.class,
				RestClientAutoConfiguration.class, RestTemplateAutoConfiguration.class));
	}

	private ApplicationContextRunner springAi() {
		return this.runner
			.withConfiguration(AutoConfigurations.of(AnthropicChatAutoConfiguration.class,
					OpenAiChatAutoConfiguration.class, OpenAiEmbeddingAutoConfiguration.class,
					OllamaApiAutoConfiguration.class, OllamaChatAutoConfiguration.class,
					SpringAiRetryAutoConfiguration.class, ToolCallingAutoConfiguration.class))
			.withPropertyValues("spring.ai.anthropic.api-key=test", "spring.ai.openai.api-key=test",
					"llm.resilience.providers.openai.type=openai", "llm.resilience.providers.ollama.type=ollama",
					"spring.ai.model.chat=anthropic", "spring.ai.model.embedding=none");
	}

	private static AnthropicClient anthropic(int retries) {
		return AnthropicOkHttpClient.builder().apiKey("test").maxRetries(retries).build();
	}

	private static List<String> found(org.springframework.context.ApplicationContext context) {
		return context.getBean(RetryLayers.class).found().stream().map(RetryLayer::name).toList();
	}

	static List<String> lines(CapturedOutput output) {
		return output.toString().lines().filter((line) -> line.contains("Retries multiply")).toList();
	}

	/** Makes a client. */
	@FunctionalInterface
	interface Retrying {

		Object with(int retries);

	}

	@Configuration(proxyBeanMethods = false)
	static class ModelOverClient {

		@Bean
		AnthropicChatModel model(AnthropicClient client) {
			return AnthropicChatModel.builder()
				.anthropicClient(client)
				.options(AnthropicChatOptions.builder().apiKey("test").build())
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OverRestClient {

		@Bean
		RestClient chat(RestClient.Builder builder) {
			return builder.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OverRestTemplate {

		@Bean
		RestTemplate chat(RestTemplateBuilder builder) {
			return builder.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class RetriesDisabled {

		@Bean
		ClientHttpRequestFactoryBuilderCustomizer<HttpComponentsClientHttpRequestFactoryBuilder> retriesDisabled() {
			return (builder) -> builder.withHttpClientCustomizer(HttpClientBuilder::disableAutomaticRetries);
		}

	}

}
