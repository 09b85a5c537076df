package dev.llmresilience.tools;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.ReadOnlyTool;
import dev.llmresilience.test.ScriptedProvider;
import dev.llmresilience.tools.ToolScript.Assistant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tools that Spring AI runs within a protected call, for a real model over a real
 * connection.
 */
class SpringAiToolsTests {

	private static final List<String> ran = new ArrayList<>();

	private final ApplicationContextRunner application = ToolScript.application()
		.withConfiguration(
				AutoConfigurations.of(ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class));

	@BeforeEach
	void forget() {
		ran.clear();
	}

	static Stream<Arguments> clients() {
		return Stream.of(
				client("from Spring AI's builder",
						(context, model) -> context.getBean(ChatClient.Builder.class).build()),
				client("built by hand with the manager that is a bean",
						(context, model) -> with(context.getBean(ToolCallingManager.class), model)),
				client("built by hand with a manager of its own", (context,
						model) -> with(SpringAiTools.markingSideEffects(ToolCallingManager.builder().build()), model)));
	}

	@ParameterizedTest(name = "a client {0}")
	@MethodSource("clients")
	void aCallWhoseToolHasChargedACardIsNotRetriedAndThe529ReachesTheCaller(String name, Client client) {
		try (ScriptedProvider provider = ToolScript.overloadedAfter("charge")) {
			Throwable thrown = failure(client, provider, ToolCallbacks.from(new Bank()));
			assertThat(thrown).hasMessageContaining("529");
			assertThat(report(thrown).reason()).isEqualTo(GiveUpReason.SIDE_EFFECT);
			assertThat(report(thrown).attempts()).singleElement()
				.satisfies((attempt) -> assertThat(attempt.status()).isEqualTo(529));
			assertThat(ran).containsExactly("charge");
			assertThat(provider.requests()).isEqualTo(2);
		}
	}

	@ParameterizedTest(name = "a client {0}")
	@MethodSource("clients")
	void aCallWhoseToolOnlyReadsIsRetried(String name, Client client) {
		try (ScriptedProvider provider = ToolScript.overloadedAfter("balance")) {
			assertThat(answer(client, provider, ToolCallbacks.from(new Bank()))).isEqualTo("done");
			assertThat(ran).containsExactly("balance", "balance");
			assertThat(provider.requests()).isEqualTo(4);
		}
	}

	@ParameterizedTest(name = "a client {0}")
	@MethodSource("clients")
	void aToolThatHasNotRunYetKeepsNobodyFromRetrying(String name, Client client) {
		try (ScriptedProvider provider = ToolScript.overloadedBefore("charge")) {
			assertThat(answer(client, provider, ToolCallbacks.from(new Bank()))).isEqualTo("done");
			assertThat(ran).containsExactly("charge");
			assertThat(provider.requests()).isEqualTo(3);
		}
	}

	static Stream<Arguments> readOnly() {
		return Stream.of(tools("its class is annotated", "rate", () -> ToolCallbacks.from(new Rates())),
				tools("its annotation is composed", "composed", () -> ToolCallbacks.from(new Composed())),
				tools("its interface is annotated", "find", () -> ToolCallbacks.from(new Books())),
				tools("it is a proxy", "balance", () -> ToolCallbacks.from(new ProxyFactory(new Bank()).getProxy())),
				tools("it is a function that is declared read-only", "look",
						() -> new ToolCallback[] { SpringAiTools.readOnly(function("look")) }));
	}

	@ParameterizedTest(name = "because {0}")
	@MethodSource("readOnly")
	void aToolOnlyReads(String name, String tool, Supplier<ToolCallback[]> tools) {
		try (ScriptedProvider provider = ToolScript.overloadedAfter(tool)) {
			assertThat(answer(builder(), provider, tools.get())).isEqualTo("done");
			assertThat(ran).containsExactly(tool, tool);
		}
	}

	static Stream<Arguments> harmful() {
		return Stream.of(tools("nothing is said about it", "charge", () -> ToolCallbacks.from(new Bank())),
				tools("nothing is said about a function", "look", () -> new ToolCallback[] { function("look") }),
				tools("another one of the same class only reads", "find,throwAway",
						() -> ToolCallbacks.from(new Books())));
	}

	@ParameterizedTest(name = "because {0}")
	@MethodSource("harmful")
	void aToolMayDoHarm(String name, String tool, Supplier<ToolCallback[]> tools) {
		try (ScriptedProvider provider = ToolScript.overloadedAfter(tool.split(","))) {
			assertThat(report(failure(builder(), provider, tools.get())).reason()).isEqualTo(GiveUpReason.SIDE_EFFECT);
			assertThat(ran).containsExactly(tool.split(","));
		}
	}

	@Test
	void outsideOfAProtectedCallAToolRunsAsEver() {
		try (ScriptedProvider provider = ToolScript.overloadedBefore("charge")) {
			run(provider, (context) -> {
				ChatClient client = builder().create(context, context.getBean(OpenAiChatModel.class));
				assertThat(catchThrowable(() -> ask(client, ToolCallbacks.from(new Bank()))))
					.hasMessageContaining("529");
				assertThat(ask(client, ToolCallbacks.from(new Bank()))).isEqualTo("done");
			});
			assertThat(ran).containsExactly("charge");
		}
	}

	@Test
	void whereNothingIsProtectedTheManagerStaysAsItIs() {
		this.application.withPropertyValues("llm.resilience.enabled=false")
			.withBean(OpenAiChatModel.class, () -> model("http://localhost"))
			.run((context) -> assertThat(context.getBean(ToolCallingManager.class))
				.hasSameClassAs(ToolCallingManager.builder().build()));
	}

	@Test
	void aManagerMarksOnceAndTellsTheSameTools() {
		ToolCallingManager manager = SpringAiTools.markingSideEffects(ToolCallingManager.builder().build());
		assertThat(SpringAiTools.markingSideEffects(manager)).isSameAs(manager);
		ToolCallback tool = SpringAiTools.readOnly(function("look"));
		assertThat(manager.resolveToolDefinitions(ToolCallingChatOptions.builder().toolCallbacks(tool).build()))
			.containsExactly(function("look").getToolDefinition());
	}

	@Test
	void aToolThatIsDeclaredReadOnlyStaysWhatItIs() {
		ToolCallback tool = function("look");
		ToolCallback readOnly = SpringAiTools.readOnly(tool);
		assertThat(readOnly.getToolDefinition()).isSameAs(tool.getToolDefinition());
		assertThat(readOnly.getToolMetadata()).isSameAs(tool.getToolMetadata());
		assertThat(readOnly.call("{}")).isEqualTo(tool.call("{}"));
	}

	private static Client builder() {
		return (context, model) -> context.getBean(ChatClient.Builder.class).build();
	}

	private static ChatClient with(ToolCallingManager manager, OpenAiChatModel model) {
		return ChatClient.builder(model)
			.defaultAdvisors(ToolCallingAdvisor.builder().toolCallingManager(manager).build())
			.build();
	}

	private static OpenAiChatModel model(String url) {
		return OpenAiChatModel.builder()
			.options(OpenAiChatOptions.builder().baseUrl(url).apiKey("test").model("gpt-x").maxRetries(0).build())
			.build();
	}

	private String answer(Client client, ScriptedProvider provider, ToolCallback[] tools) {
		List<String> answers = new ArrayList<>();
		run(provider, (context) -> answers.add(protectedCall(context, client, tools)));
		return answers.get(0);
	}

	private Throwable failure(Client client, ScriptedProvider provider, ToolCallback[] tools) {
		List<Throwable> failures = new ArrayList<>();
		run(provider, (context) -> failures.add(catchThrowable(() -> protectedCall(context, client, tools))));
		return failures.get(0);
	}

	private static String protectedCall(ApplicationContext context, Client client, ToolCallback[] tools)
			throws Exception {
		ChatClient chat = client.create(context, context.getBean(OpenAiChatModel.class));
		return context.getBean(Assistant.class).ask(() -> ask(chat, tools));
	}

	private static String ask(ChatClient chat, ToolCallback[] tools) {
		return Objects.requireNonNull(chat.prompt("pay").tools((Object[]) tools).call().content());
	}

	private void run(ScriptedProvider provider, Body body) {
		this.application.withBean(OpenAiChatModel.class, () -> model(provider.url()))
			.run((context) -> body.run(context));
	}

	private static LlmCallReport report(Throwable thrown) {
		return Objects.requireNonNull(LlmCallReport.find(thrown));
	}

	private static ToolCallback function(String name) {
		return FunctionToolCallback.builder(name, () -> ran(name)).description(name).inputType(Void.class).build();
	}

	private static String ran(String tool) {
		ran.add(tool);
		return tool;
	}

	private static Arguments client(String name, Client client) {
		return Arguments.of(name, client);
	}

	private static Arguments tools(String name, String tool, Supplier<ToolCallback[]> tools) {
		return Arguments.of(name, tool, tools);
	}

	/** How an application comes by its client. */
	@FunctionalInterface
	interface Client {

		ChatClient create(ApplicationContext context, OpenAiChatModel model);

	}

	@FunctionalInterface
	interface Body {

		void run(ApplicationContext context) throws Exception;

	}

	static class Bank {

		@Tool(description = "Charges a card")
		String charge() {
			return ran("charge");
		}

		@Tool(description = "Tells the balance")
		@ReadOnlyTool
		String balance() {
			return ran("balance");
		}

	}

	@ReadOnlyTool
	static class Rates {

		@Tool(description = "Tells a rate")
		String rate() {
			return ran("rate");
		}

	}

	static class Composed {

		@Tool(description = "Reads")
		@Reads
		String composed() {
			return ran("composed");
		}

	}

	interface Library {

		@ReadOnlyTool
		String find();

	}

	static class Books implements Library {

		@Override
		@Tool(description = "Finds a book")
		public String find() {
			return ran("find");
		}

		@Tool(description = "Throws a book away")
		String throwAway() {
			return ran("throwAway");
		}

	}

	@ReadOnlyTool
	@Retention(RetentionPolicy.RUNTIME)
	@interface Reads {

	}

}
