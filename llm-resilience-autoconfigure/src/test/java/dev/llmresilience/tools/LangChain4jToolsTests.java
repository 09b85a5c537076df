package dev.llmresilience.tools;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.agent.tool.ToolSpecifications;
import dev.langchain4j.http.client.jdk.JdkHttpClientBuilder;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.service.AiServiceContext;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.tool.DefaultToolExecutor;
import dev.langchain4j.service.tool.ToolExecutor;
import dev.langchain4j.service.tool.ToolProviderResult;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.ReadOnlyTool;
import dev.llmresilience.autoconfigure.HidingClassLoader;
import dev.llmresilience.test.ScriptedProvider;
import dev.llmresilience.tools.ToolScript.Assistant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tools that LangChain4j runs within a protected call, for a real model over a real
 * connection.
 */
@ExtendWith(OutputCaptureExtension.class)
class LangChain4jToolsTests {

	private static final List<String> ran = new CopyOnWriteArrayList<>();

	private static final String READ_ONLY = "{\"readOnlyHint\": true}";

	@BeforeEach
	void forget() {
		ran.clear();
	}

	/** Case C144. */
	@Test
	void aCallWhoseToolHasChargedACardIsNotRetriedAndThe529ReachesTheCaller() {
		try (ScriptedProvider provider = ToolScript.overloadedAfter("charge")) {
			Throwable thrown = failure(provider, (service) -> service.tools(new Bank()));
			assertThat(thrown).hasMessageContaining("overloaded_error");
			assertThat(report(thrown).reason()).isEqualTo(GiveUpReason.SIDE_EFFECT);
			assertThat(report(thrown).attempts()).singleElement()
				.satisfies((attempt) -> assertThat(attempt.status()).isEqualTo(529));
			assertThat(ran).containsExactly("charge");
			assertThat(provider.requests()).isEqualTo(2);
		}
	}

	@Test
	void aCallWhoseToolOnlyReadsIsRetried() {
		try (ScriptedProvider provider = ToolScript.overloadedAfter("balance")) {
			assertThat(answer(provider, (service) -> service.tools(new Bank()))).isEqualTo("done");
			assertThat(ran).containsExactly("balance", "balance");
			assertThat(provider.requests()).isEqualTo(4);
		}
	}

	@Test
	void aToolThatHasNotRunYetKeepsNobodyFromRetrying() {
		try (ScriptedProvider provider = ToolScript.overloadedBefore("charge")) {
			assertThat(answer(provider, (service) -> service.tools(new Bank()))).isEqualTo("done");
			assertThat(ran).containsExactly("charge");
			assertThat(provider.requests()).isEqualTo(3);
		}
	}

	static Stream<Arguments> readOnly() {
		return Stream.of(service("its class is annotated", "rate", (service) -> service.tools(new Rates())),
				service("its metadata say so", "hinted", (service) -> service.tools(new Hinted())),
				service("it is a proxy, as Spring's starter passes it", "balance",
						(service) -> service.tools(proxied("balance"))),
				service("a provider of tools says so", "look",
						(service) -> service.toolProvider(
								(request) -> ToolProviderResult.builder().addAll(function("look", true)).build())),
				service("it is a function whose metadata say so", "look",
						(service) -> service.tools(function("look", true))));
	}

	@ParameterizedTest(name = "because {0}")
	@MethodSource("readOnly")
	void aToolOnlyReads(String name, String tool, UnaryOperator<AiServices<Model>> tools) {
		try (ScriptedProvider provider = ToolScript.overloadedAfter(tool)) {
			assertThat(answer(provider, tools)).isEqualTo("done");
			assertThat(ran).containsExactly(tool, tool);
		}
	}

	static Stream<Arguments> harmful() {
		return Stream.of(service("nothing is said about it", "charge", (service) -> service.tools(new Bank())),
				service("it runs on another thread", "charge,charge",
						(service) -> service.tools(new Bank()).executeToolsConcurrently()),
				service("nothing is said about a function", "look",
						(service) -> service.tools(function("look", false))),
				service("nothing is said by a provider of tools", "look",
						(service) -> service.toolProvider(
								(request) -> ToolProviderResult.builder().addAll(function("look", false)).build())),
				service("another one of the same class only reads", "balance,charge",
						(service) -> service.tools(new Bank())));
	}

	@ParameterizedTest(name = "because {0}")
	@MethodSource("harmful")
	void aToolMayDoHarm(String name, String tool, UnaryOperator<AiServices<Model>> tools) {
		try (ScriptedProvider provider = ToolScript.overloadedAfter(tool.split(","))) {
			assertThat(report(failure(provider, tools)).reason()).isEqualTo(GiveUpReason.SIDE_EFFECT);
			assertThat(ran).containsExactly(tool.split(","));
		}
	}

	@Test
	void outsideOfAProtectedCallAToolRunsAsEver() {
		try (ScriptedProvider provider = ToolScript.overloadedBefore("charge")) {
			Model model = model(provider, (service) -> service.tools(new Bank()));
			assertThat(catchThrowable(() -> model.ask("pay"))).hasMessageContaining("overloaded_error");
			assertThat(model.ask("pay")).isEqualTo("done");
			assertThat(ran).containsExactly("charge");
		}
	}

	/**
	 * An earlier version does not have all that is needed, and must not suffer.
	 */
	@Test
	void aVersionThatCannotBeHookedIntoStillMakesServices(CapturedOutput output) throws Exception {
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		try (HidingClassLoader loader = new HidingClassLoader("dev.langchain4j.observability.api.listener")) {
			Thread.currentThread().setContextClassLoader(loader);
			Class<?> services = loader.loadClass(AiServiceContext.class.getName());
			Object service = services.getMethod("create", Class.class).invoke(null, Model.class);
			assertThat(service).isInstanceOf(services);
			assertThat(output).contains("Tools of " + Model.class.getName()
					+ " do not mark side effects, because this version of LangChain4j cannot be hooked into: "
					+ "java.lang.NoClassDefFoundError");
		}
		finally {
			Thread.currentThread().setContextClassLoader(before);
		}
	}

	private static String answer(ScriptedProvider provider, UnaryOperator<AiServices<Model>> tools) {
		List<String> answers = new ArrayList<>();
		Model model = model(provider, tools);
		ToolScript.application()
			.run((context) -> answers.add(context.getBean(Assistant.class).ask(() -> model.ask("pay"))));
		return answers.get(0);
	}

	private static Throwable failure(ScriptedProvider provider, UnaryOperator<AiServices<Model>> tools) {
		List<Throwable> failures = new ArrayList<>();
		Model model = model(provider, tools);
		ToolScript.application()
			.run((context) -> failures
				.add(catchThrowable(() -> context.getBean(Assistant.class).ask(() -> model.ask("pay")))));
		return failures.get(0);
	}

	private static Model model(ScriptedProvider provider, UnaryOperator<AiServices<Model>> tools) {
		ChatModel model = OpenAiChatModel.builder()
			.httpClientBuilder(new JdkHttpClientBuilder())
			.baseUrl(provider.url())
			.apiKey("test")
			.modelName("gpt-x")
			.maxRetries(0)
			.build();
		return tools.apply(AiServices.builder(Model.class).chatModel(model)).build();
	}

	private static Map<ToolSpecification, ToolExecutor> function(String name, boolean readOnly) {
		ToolSpecification.Builder specification = ToolSpecification.builder().name(name);
		return Map.of((readOnly ? specification.addMetadata("readOnlyHint", true) : specification).build(),
				(request, memory) -> ran(name));
	}

	private static Map<ToolSpecification, ToolExecutor> proxied(String name) {
		Object proxy = new ProxyFactory(new Bank()).getProxy();
		Method original = Objects.requireNonNull(ReflectionUtils.findMethod(Bank.class, name));
		Method proxied = Objects.requireNonNull(ReflectionUtils.findMethod(proxy.getClass(), name));
		return Map.of(ToolSpecifications.toolSpecificationFrom(original),
				new DefaultToolExecutor(proxy, original, proxied));
	}

	private static LlmCallReport report(Throwable thrown) {
		return Objects.requireNonNull(LlmCallReport.find(thrown));
	}

	private static Arguments service(String name, String tool, UnaryOperator<AiServices<Model>> tools) {
		return Arguments.of(name, tool, tools);
	}

	private static String ran(String tool) {
		ran.add(tool);
		return tool;
	}

	interface Model {

		String ask(String question);

	}

	static class Bank {

		@Tool("Charges a card")
		String charge() {
			return ran("charge");
		}

		@Tool("Tells the balance")
		@ReadOnlyTool
		String balance() {
			return ran("balance");
		}

	}

	@ReadOnlyTool
	static class Rates {

		@Tool("Tells a rate")
		String rate() {
			return ran("rate");
		}

	}

	static class Hinted {

		@Tool(value = "Reads", metadata = READ_ONLY)
		String hinted() {
			return ran("hinted");
		}

	}

}
