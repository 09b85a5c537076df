package dev.llmresilience.aop;

import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.http.client.jdk.JdkHttpClientBuilder;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.Result;
import dev.langchain4j.service.SystemMessage;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.test.ScriptedProvider;
import dev.llmresilience.test.ScriptedProvider.Answer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.RuntimeBeanReference;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.GenericBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.http.client.autoconfigure.HttpClientAutoConfiguration;
import org.springframework.boot.http.client.autoconfigure.imperative.ImperativeHttpClientAutoConfiguration;
import org.springframework.boot.http.client.autoconfigure.service.HttpServiceClientPropertiesAutoConfiguration;
import org.springframework.boot.restclient.autoconfigure.RestClientAutoConfiguration;
import org.springframework.boot.restclient.autoconfigure.service.HttpServiceClientAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.client.HttpServerErrorException;
import org.springframework.web.service.annotation.PostExchange;
import org.springframework.web.service.registry.ImportHttpServices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Clients that are interfaces only, with the annotation on the interface, as their own
 * libraries make them beans: each failure comes over a real connection.
 */
class DeclarativeClientTests {

	private static final String OVERLOADED = """
			{"error":{"type":"overloaded_error","message":"Overloaded"}}""";

	private static final String WRONG = """
			{"error":{"type":"invalid_request_error","message":"max_tokens is too large"}}""";

	private static final String COMPLETION = """
			{"id":"c","object":"chat.completion","created":1,"model":"gpt-x","choices":[{"index":0,
			"finish_reason":"stop","message":{"role":"assistant","content":"done"}}]}""";

	private static final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class))
		.withPropertyValues("llm.resilience.providers.openai.retry.base-delay=1ms",
				"llm.resilience.providers.openai.retry.rate-limit-base-delay=1ms");

	/* Services of LangChain4j. */

	/** How a service becomes a bean. */
	@FunctionalInterface
	interface Registration {

		<T extends Assistant> void register(BeanDefinitionRegistry registry, Class<T> type);

	}

	/** What an application writes: the product of the builder is a bean. */
	private static final class Created implements Registration {

		@Override
		public <T extends Assistant> void register(BeanDefinitionRegistry registry, Class<T> type) {
			GenericBeanDefinition definition = new GenericBeanDefinition();
			definition.setBeanClass(type);
			definition
				.setInstanceSupplier(() -> AiServices.create(type, ((BeanFactory) registry).getBean(ChatModel.class)));
			registry.registerBeanDefinition("assistant", definition);
		}

	}

	/** What LangChain4j's starter does for interfaces with {@code @AiService}. */
	private static final class Scanned implements Registration {

		@Override
		public <T extends Assistant> void register(BeanDefinitionRegistry registry, Class<T> type) {
			GenericBeanDefinition definition = new GenericBeanDefinition();
			definition.setBeanClass(ServiceFactory.class);
			definition.getConstructorArgumentValues().addGenericArgumentValue(type);
			definition.getPropertyValues().add("chatModel", new RuntimeBeanReference(ChatModel.class));
			registry.registerBeanDefinition("assistant", definition);
		}

	}

	static final class ServiceFactory implements FactoryBean<Object> {

		private final Class<Object> type;

		private @Nullable ChatModel model;

		ServiceFactory(Class<Object> type) {
			this.type = type;
		}

		public void setChatModel(ChatModel model) {
			this.model = model;
		}

		@Override
		public Object getObject() {
			return AiServices.builder(this.type).chatModel(this.model).build();
		}

		@Override
		public Class<?> getObjectType() {
			return this.type;
		}

	}

	static Stream<Arguments> services() {
		return Stream.of(OnMethod.class, OnType.class, OnSubtype.class, OnMethodWithResult.class)
			.flatMap((type) -> Stream.of(Arguments.of(type, new Created()), Arguments.of(type, new Scanned())))
			.flatMap((row) -> IntStream.of(500, 529)
				.mapToObj((status) -> Arguments.of(row.get()[0], row.get()[1], status)));
	}

	@ParameterizedTest
	@MethodSource("services")
	<T extends Assistant> void aServiceOfLangChain4jIsRetried(Class<T> type, Registration registration, int status) {
		try (ScriptedProvider provider = failing(status, 2, COMPLETION)) {
			withService(provider, type, registration,
					(assistant) -> assertThat(text(assistant.ask("hello"))).isEqualTo("done"));
			assertThat(provider.requests()).isEqualTo(3);
		}
	}

	@Test
	void aServiceOfLangChain4jWithoutAnnotationIsNot() {
		try (ScriptedProvider provider = failing(529, 2, COMPLETION)) {
			withService(provider, Unprotected.class, new Created(),
					(assistant) -> assertThat(catchThrowable(() -> assistant.ask("hello"))).isNotNull());
			assertThat(provider.requests()).isEqualTo(1);
		}
	}

	@Test
	void aRequestThatIsWrongReachesTheCallerOfAServiceAtOnce() {
		try (ScriptedProvider provider = failing(400, 9, COMPLETION)) {
			withService(provider, OnMethod.class, new Scanned(), (assistant) -> {
				Throwable thrown = catchThrowable(() -> assistant.ask("hello"));
				assertThat(thrown).isInstanceOf(InvalidRequestException.class);
				assertThat(LlmCallReport.find(thrown)).isNotNull();
			});
			assertThat(provider.requests()).isEqualTo(1);
		}
	}

	private static <T extends Assistant> void withService(ScriptedProvider provider, Class<T> type,
			Registration registration, Consumer<T> test) {
		runner.withBean("model", ChatModel.class, () -> model(provider))
			.withInitializer(
					(context) -> registration.register((BeanDefinitionRegistry) context.getBeanFactory(), type))
			.run((context) -> test.accept(context.getBean("assistant", type)));
	}

	private static Object text(Object answer) {
		return (answer instanceof Result<?> result) ? result.content() : answer;
	}

	private static ChatModel model(ScriptedProvider provider) {
		return OpenAiChatModel.builder()
			.httpClientBuilder(new JdkHttpClientBuilder())
			.baseUrl(provider.url())
			.apiKey("test")
			.modelName("gpt-x")
			.maxRetries(0)
			.build();
	}

	public interface Assistant {

		Object ask(String question);

	}

	public interface OnMethod extends Assistant {

		@Override
		@LlmRetry("openai")
		@SystemMessage("Be brief.")
		String ask(String question);

	}

	@LlmRetry("openai")
	public interface OnType extends Assistant {

		@Override
		String ask(String question);

	}

	public interface OnSubtype extends OnMethod {

	}

	public interface OnMethodWithResult extends Assistant {

		@Override
		@LlmRetry("openai")
		Result<String> ask(String question);

	}

	public interface Unprotected extends Assistant {

		@Override
		String ask(String question);

	}

	/* HTTP service clients, as Spring Boot makes them of imported interfaces. */

	@ParameterizedTest
	@ValueSource(ints = { 500, 529 })
	void anHttpServiceClientIsRetried(int status) {
		try (ScriptedProvider provider = failing(status, 2, "[\"done\"]")) {
			withClient(provider, (client) -> assertThat(client.ask("hello")).containsExactly("done"));
			assertThat(provider.requests()).isEqualTo(3);
		}
	}

	@Test
	void anHttpServiceClientFailsWithTheSameExceptionAsEver() {
		try (ScriptedProvider provider = failing(500, 9, "[]")) {
			withClient(provider, (client) -> {
				Throwable thrown = catchThrowable(() -> client.ask("hello"));
				assertThat(thrown).isInstanceOf(HttpServerErrorException.class);
				assertThat(LlmCallReport.find(thrown)).isNotNull();
			});
			// The body says that it is overloaded.
			assertThat(provider.requests()).isEqualTo(1 + 5);
		}
	}

	private static void withClient(ScriptedProvider provider, Consumer<Client> test) {
		runner
			.withConfiguration(AutoConfigurations.of(HttpClientAutoConfiguration.class,
					ImperativeHttpClientAutoConfiguration.class, RestClientAutoConfiguration.class,
					HttpServiceClientPropertiesAutoConfiguration.class, HttpServiceClientAutoConfiguration.class))
			.withUserConfiguration(Clients.class)
			.withPropertyValues("spring.http.serviceclient.llm.base-url=" + provider.url(),
					"spring.http.clients.imperative.factory=jdk")
			.run((context) -> test.accept(context.getBean(Client.class)));
	}

	@Configuration(proxyBeanMethods = false)
	@ImportHttpServices(group = "llm", types = Client.class)
	static class Clients {

	}

	public interface Client {

		@LlmRetry("openai")
		@PostExchange("/chat")
		List<String> ask(@RequestBody String question);

	}

	private static ScriptedProvider failing(int status, int times, String success) {
		Answer failure = ScriptedProvider.answer(status, (status < 500) ? WRONG : OVERLOADED);
		return ScriptedProvider.answering(Stream
			.concat(Stream.generate(() -> failure).limit(times), Stream.of(ScriptedProvider.answer(200, success)))
			.toArray(Answer[]::new));
	}

}
