package dev.llmresilience.autoconfigure;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.AnthropicClientAsync;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClientAsync;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.Recovery;
import dev.llmresilience.RecoveryStrategy;
import okhttp3.OkHttpClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.anthropic.AnthropicChatOptions;
import org.springframework.ai.model.anthropic.autoconfigure.AnthropicChatAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An attempt that waits in OkHttp on a platform thread cannot be ended from outside, and
 * the start says so where that can happen.
 */
@ExtendWith(OutputCaptureExtension.class)
class DeafClientsTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class,
				RetryLayersAutoConfiguration.class))
		.withPropertyValues("llm.resilience.providers.anthropic.type=anthropic",
				"llm.resilience.providers.openai.type=openai");

	private static ApplicationContextRunner claude(ApplicationContextRunner runner) {
		return runner.withBean("claude", AnthropicClient.class, DeafClientsTests::anthropic);
	}

	@Test
	void oneLineNamesTheEntryAndTheClientAndWhatToDo(CapturedOutput output) {
		claude(this.runner).withBean(Chat.class)
			.run((context) -> assertThat(lines(output)).singleElement()
				.asString()
				.contains(" WARN ")
				.endsWith("An attempt of 'anthropic' may outlast its attempt-timeout: "
						+ "OkHttp, below the bean 'claude' (Anthropic's SDK), does not heed the interrupt of a platform "
						+ "thread. Set llm.resilience.providers.anthropic.retry.attempt-thread=worker, "
						+ "or make the calls on virtual threads."));
	}

	@Test
	void severalEntriesAndClientsAreOneLineToo(CapturedOutput output) {
		claude(this.runner)
			.withBean("gpt", OpenAIClient.class, () -> OpenAIOkHttpClient.builder().apiKey("test").build())
			.withBean(Chat.class)
			.withBean(OtherChat.class)
			.run((context) -> assertThat(lines(output)).singleElement()
				.asString()
				.contains("An attempt of 'anthropic', 'openai'", "'claude'", "'gpt'",
						"anthropic.retry.attempt-thread=worker and llm.resilience.providers.openai.retry.attempt-thread=worker"));
	}

	static Stream<Arguments> clients() {
		return Stream.of(Arguments.of(AnthropicClient.class, (Supplier<?>) DeafClientsTests::anthropic),
				Arguments.of(OpenAIClient.class,
						(Supplier<?>) () -> OpenAIOkHttpClient.builder().apiKey("test").maxRetries(0).build()),
				Arguments.of(AnthropicChatModel.class,
						(Supplier<?>) () -> AnthropicChatModel.builder()
							.options(AnthropicChatOptions.builder().apiKey("test").maxRetries(0).build())
							.build()),
				Arguments.of(OpenAiChatModel.class,
						(Supplier<?>) () -> OpenAiChatModel.builder()
							.options(OpenAiChatOptions.builder().apiKey("test").maxRetries(0).build())
							.build()),
				Arguments.of(OkHttpClient.class, (Supplier<?>) OkHttpClient::new), Arguments.of(OkHttpClient.class,
						(Supplier<?>) () -> new OkHttpClient.Builder().retryOnConnectionFailure(false).build()));
	}

	@ParameterizedTest
	@MethodSource("clients")
	<T> void eachClientOverOkHttpIsFoundWhetherItRetriesOrNot(Class<T> type, Supplier<?> client,
			CapturedOutput output) {
		this.runner.withBean("client", type, () -> type.cast(client.get()))
			.withBean(Chat.class)
			.withBean(OtherChat.class)
			.run((context) -> assertThat(lines(output)).singleElement().asString().contains("'client'"));
	}

	@Test
	void aModelThatSpringAiConfiguresIsFound(CapturedOutput output) {
		this.runner
			.withConfiguration(
					AutoConfigurations.of(AnthropicChatAutoConfiguration.class, ToolCallingAutoConfiguration.class))
			.withPropertyValues("spring.ai.anthropic.api-key=test", "spring.ai.anthropic.max-retries=0")
			.withBean(Chat.class)
			.run((context) -> assertThat(lines(output)).singleElement().asString().contains("Spring AI"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "llm.resilience.providers.anthropic.retry.attempt-thread=worker",
			"llm.resilience.providers.default.retry.attempt-thread=worker", "llm.resilience.layers=ignore",
			"llm.resilience.enabled=false" })
	void nothingIsSaidWhereItIsSettledOrNotWanted(String property, CapturedOutput output) {
		claude(this.runner).withBean(Chat.class)
			.withPropertyValues(property)
			.run((context) -> assertThat(lines(output)).isEmpty());
	}

	@Test
	void nothingIsSaidOfAnEntryThatNoMethodIsUnder(CapturedOutput output) {
		claude(this.runner).run((context) -> assertThat(lines(output)).isEmpty());
	}

	@Test
	void nothingIsSaidOfAnEntryThatTheClientDoesNotServe(CapturedOutput output) {
		claude(this.runner).withBean(OtherChat.class).run((context) -> assertThat(lines(output)).isEmpty());
	}

	@Test
	void nothingIsSaidOfMethodsThatNobodyWaitsForOnAThread(CapturedOutput output) {
		claude(this.runner).withBean(LaterChat.class).run((context) -> assertThat(lines(output)).isEmpty());
	}

	@Test
	void nothingIsSaidOfMethodsThatHaveNoAttemptTimeout(CapturedOutput output) {
		claude(this.runner).withBean(Tool.class)
			.withBean("never", Never.class)
			.run((context) -> assertThat(lines(output)).isEmpty());
	}

	@Test
	void nothingIsSaidOfAClientThatNobodyWaitsInOnAThread(CapturedOutput output) {
		this.runner
			.withBean("claude", AnthropicClientAsync.class,
					() -> AnthropicOkHttpClientAsync.builder().apiKey("test").build())
			.withBean(Chat.class)
			.run((context) -> assertThat(lines(output)).isEmpty());
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21)
	void nothingIsSaidWhereCallersAreVirtualThreads(CapturedOutput output) {
		claude(this.runner).withBean(Chat.class)
			.withPropertyValues("spring.threads.virtual.enabled=true")
			.run((context) -> assertThat(lines(output)).isEmpty());
	}

	@Test
	@EnabledForJreRange(max = JRE.JAVA_20)
	void thePropertyAloneMakesNoVirtualThreads(CapturedOutput output) {
		claude(this.runner).withBean(Chat.class)
			.withPropertyValues("spring.threads.virtual.enabled=true")
			.run((context) -> assertThat(lines(output)).hasSize(1));
	}

	private static AnthropicClient anthropic() {
		return AnthropicOkHttpClient.builder().apiKey("test").maxRetries(0).build();
	}

	static List<String> lines(CapturedOutput output) {
		return output.toString().lines().filter((line) -> line.contains("attempt-timeout")).toList();
	}

	static class Chat {

		@LlmRetry("anthropic")
		String ask() {
			return "answer";
		}

		@LlmRetry("anthropic")
		String askAgain() {
			return "answer";
		}

	}

	static class OtherChat {

		@LlmRetry("openai")
		String ask() {
			return "answer";
		}

	}

	static class LaterChat {

		@LlmRetry("anthropic")
		CompletableFuture<String> ask() {
			return CompletableFuture.completedFuture("answer");
		}

	}

	static class Tool {

		@LlmRetry(provider = "anthropic", recovery = "never")
		String run() {
			return "done";
		}

	}

	static class Never implements RecoveryStrategy {

		@Override
		public Recovery recover(FailedRun run) {
			return Recovery.fail();
		}

	}

}
