package dev.llmresilience.docs;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.models.messages.MessageCreateParams;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.llmresilience.CircuitOpenException;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.QuotaExhaustedException;
import dev.llmresilience.docs.GettingStartedPageExamples.Clients;
import dev.llmresilience.docs.GettingStartedPageExamples.OverLangChain4j;
import dev.llmresilience.docs.GettingStartedPageExamples.OverSdk;
import dev.llmresilience.docs.GettingStartedPageExamples.OverSpringAi;
import dev.llmresilience.docs.GettingStartedPageExamples.Summaries;
import dev.llmresilience.docs.ProviderOnThisMachine.Reply;
import dev.llmresilience.test.VirtualTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.skyscreamer.jsonassert.JSONAssert;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertiesPropertySource;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page on getting started: its examples are compiled and run here in an application
 * that is configured as it says, against a provider on this machine.
 */
@ExtendWith(OutputCaptureExtension.class)
class GettingStartedPageTests {

	private static final Page PAGE = Page.of("getting-started.md");

	private static final Reply ANSWER = new Reply(200, Map.of(), """
			{"id":"x","model":"x","type":"message","role":"assistant","stop_reason":"end_turn",
			 "content":[{"type":"text","text":"answer"}],"object":"chat.completion","created":1,
			 "usage":{"input_tokens":1,"output_tokens":1,"prompt_tokens":1,"completion_tokens":1,"total_tokens":2},
			 "choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"answer"}}]}
			""");

	private static final Reply OVERLOADED = error(529, "overloaded_error");

	private static final Reply SPEND_CAP = error(429, "enforced_spend_limit_reached");

	private final VirtualTime time = new VirtualTime(42);

	private final ProviderOnThisMachine provider = new ProviderOnThisMachine(ANSWER);

	@AfterEach
	void close() {
		this.provider.close();
		this.time.close();
	}

	private static Reply error(int status, String type) {
		return new Reply(status, Map.of(), "{\"error\":{\"type\":\"" + type + "\",\"message\":\"...\"}}");
	}

	static List<String> examples() {
		return PAGE.blocks("java");
	}

	@ParameterizedTest
	@MethodSource("examples")
	void eachExampleIsCompiled(String example) {
		assertThat(Page.source("GettingStartedPageExamples.java")).contains(Page.plain(example));
	}

	@Test
	void theDependencyIsTheStarter() throws Exception {
		String pom = Files.readString(Path.of("../llm-resilience-starter/pom.xml"), StandardCharsets.UTF_8);
		assertThat(PAGE.blocks("xml").get(0).lines().filter((line) -> line.startsWith("  <"))).hasSize(3)
			.allSatisfy((line) -> assertThat(pom).contains(line.strip()));
	}

	@Test
	void theFirstConfigurationIsThreeLines() {
		assertThat(PAGE.blocks("yaml").get(0).lines()).hasSize(3);
	}

	@Test
	void clientsOfTheExamplesAreMade() {
		Clients clients = new Clients();
		assertThat(clients.anthropic("key")).isNotNull();
		assertThat(clients.openAi("key")).isNotNull();
		assertThat(clients.openAiModel("key")).isNotNull();
	}

	static Stream<BiFunction<ConfigurableApplicationContext, String, @Nullable Object>> clients() {
		return Stream.of((context, text) -> context.getBean(Summaries.class).summarise(text),
				(context, text) -> context.getBean(OverSpringAi.class).summarise(text),
				(context, text) -> context.getBean(OverLangChain4j.class).summarise(text),
				(context, text) -> context.getBean(OverSdk.class)
					.summarise(MessageCreateParams.builder().model("x").maxTokens(1).addUserMessage(text).build()));
	}

	@ParameterizedTest
	@MethodSource("clients")
	void withEachClientAnOverloadedProviderIsAskedOnceMoreAndNoLayerBelowRetries(
			BiFunction<ConfigurableApplicationContext, String, @Nullable Object> client, CapturedOutput output) {
		this.provider.answers(OVERLOADED, ANSWER);
		try (ConfigurableApplicationContext context = start(OtherClients.class)) {
			assertThat(call(() -> client.apply(context, "text"))).isNull();
			assertThat(this.provider.requests()).isEqualTo(2);
			assertThat(output).doesNotContain("Retries multiply");
		}
	}

	@Test
	void theLogAndTheEndpointsShowWhatThePageShows(CapturedOutput output) throws Exception {
		try (ConfigurableApplicationContext context = start()) {
			Summaries summaries = context.getBean(Summaries.class);
			this.provider.answers(OVERLOADED, ANSWER);
			assertThat(call(() -> summaries.summarise("text"))).isNull();
			this.provider.answers(OVERLOADED);
			call(() -> summaries.summarise("text"));
			call(() -> summaries.summarise("text"));
			assertThat(call(() -> summaries.summarise("text"))).isInstanceOf(CircuitOpenException.class);
			List<String> lines = output.getOut()
				.lines()
				.filter((line) -> line.contains("dev.llmresilience.calls") || line.contains("dev.llmresilience.guards"))
				.map((line) -> line.replaceFirst("^\\S+\\s+(\\S+).*?(dev\\.llmresilience\\.\\S+)\\s+: ", "$1 $2 : "))
				.toList();
			assertThat(withoutNumbers(String.join("\n", lines))).as(String.join("\n", lines))
				.matches(Pattern.quote(withoutNumbers(PAGE.block("log"))).replace("...", "\\E.*\\Q"));
			RestClient client = RestClient
				.create("http://localhost:" + context.getEnvironment().getProperty("local.server.port"));
			String breakers = Objects
				.requireNonNull(client.get().uri("/actuator/llmbreakers").retrieve().body(String.class));
			assertThat(withoutNumbers(breakers)).as(breakers).isEqualTo(withoutNumbers(PAGE.block("llmbreakers")));
			String entry = Objects
				.requireNonNull(client.get().uri("/actuator/llmproviders/anthropic").retrieve().body(String.class));
			JSONAssert.assertEquals(PAGE.block("llmproviders"), entry, false);
		}
	}

	/** Those are drawn by chance, or follow from what was. */
	private static String withoutNumbers(String text) {
		return text.replaceAll("2026-[^Z]+Z", "t").replaceAll("\\d+ ms", "n").replaceAll("\\s+", "");
	}

	static List<List<String>> answers() {
		return PAGE.rows("answers");
	}

	@ParameterizedTest
	@MethodSource("answers")
	void anAnswerIsDealtWithAsTheTableSays(List<String> row) {
		Reply reply = row.get(0).contains("spend_limit") ? SPEND_CAP
				: error(Integer.parseInt(row.get(0).substring(0, 3)), "some_error");
		Duration hint = row.get(0).contains("Retry-After: 2") ? Duration.ofSeconds(2) : Duration.ZERO;
		this.provider.answers(hint.isZero() ? reply : reply.with("Retry-After", "2"));
		try (ConfigurableApplicationContext context = start()) {
			Throwable thrown = call(() -> context.getBean(Summaries.class).summarise("text"));
			assertThat(this.provider.requests()).isEqualTo(Integer.parseInt(row.get(1)));
			assertThat(Objects.requireNonNull(thrown).getClass().getCanonicalName())
				.endsWith("." + row.get(3).replace("`", ""));
			LlmCallReport report = Objects.requireNonNull(LlmCallReport.find(thrown));
			assertThat(report.attempts()).hasSize(this.provider.requests());
			assertThat(this.time.elapsed()).isGreaterThanOrEqualTo(hint.multipliedBy(report.attempts().size() - 1));
		}
	}

	@Test
	void afterASpendCapFurtherCallsAreRefusedWithoutARequestUntilTheProbe() {
		this.provider.answers(SPEND_CAP);
		try (ConfigurableApplicationContext context = start()) {
			Summaries summaries = context.getBean(Summaries.class);
			call(() -> summaries.summarise("text"));
			assertThat(call(() -> summaries.summarise("text"))).isInstanceOf(QuotaExhaustedException.class);
			assertThat(this.provider.requests()).isEqualTo(1);
			this.provider.answers(ANSWER);
			this.time.runFor(Duration.ofMinutes(5));
			assertThat(call(() -> summaries.summarise("text"))).isNull();
		}
	}

	static Stream<String> links() {
		return Stream.of("layers", "operating", "calls", "failures", "limits", "tools", "properties", "testing",
				"moving-over");
	}

	@ParameterizedTest
	@MethodSource("links")
	void thePageLinksToTheOthers(String page) {
		assertThat(PAGE.text()).contains("(" + page + ".md)");
		assertThat(Path.of("../docs", page + ".md")).exists();
	}

	/**
	 * Makes a call in virtual time.
	 * @param call the call
	 * @return what it threw, or {@code null}
	 */
	private @Nullable Throwable call(Supplier<? extends @Nullable Object> call) {
		AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
		this.time.start(() -> {
			try {
				Object unused = call.get();
			}
			catch (RuntimeException ex) {
				thrown.set(ex);
			}
		});
		this.time.run();
		return thrown.get();
	}

	private ConfigurableApplicationContext start(Class<?>... more) {
		Properties properties = new Properties();
		properties.setProperty("anthropic.url", this.provider.url());
		properties.setProperty("spring.ai.model.chat", (more.length > 0) ? "openai" : "none");
		properties.setProperty("spring.ai.openai.api-key", "test");
		properties.setProperty("spring.ai.openai.base-url", this.provider.url());
		properties.setProperty("spring.http.clients.imperative.factory", "jdk");
		if (more.length > 0) {
			properties.setProperty("llm.resilience.providers.openai.type", "openai");
		}
		properties.setProperty("server.port", "0");
		SpringApplication application = new SpringApplicationBuilder(Application.class).sources(more)
			.initializers((context) -> {
				MutablePropertySources sources = context.getEnvironment().getPropertySources();
				sources.addFirst(new PropertiesPropertySource("test", properties));
				PAGE.blocks("yaml").forEach((yaml) -> Page.properties(yaml).forEach(sources::addLast));
				context.getBeanFactory().registerSingleton("time", this.time);
				context.getBeanFactory().registerSingleton("provider", this.provider);
			})
			.build();
		application.setRegisterShutdownHook(false);
		return application.run();
	}

	@SpringBootConfiguration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Summaries.class)
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ OverSpringAi.class, OverLangChain4j.class, OverSdk.class })
	static class OtherClients {

		@Bean
		OpenAiChatModel openAiModel(ProviderOnThisMachine provider) {
			return OpenAiChatModel.builder()
				.baseUrl(provider.url())
				.apiKey("test")
				.modelName("gpt-5-mini")
				.maxRetries(0)
				.build();
		}

		@Bean
		AnthropicClient anthropic(ProviderOnThisMachine provider) {
			return AnthropicOkHttpClient.builder().baseUrl(provider.url()).apiKey("test").maxRetries(0).build();
		}

	}

}
