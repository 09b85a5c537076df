package dev.llmresilience.aop;

import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import kotlin.Unit;
import kotlin.coroutines.Continuation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Kotlin's suspending functions: retried like a {@code Mono}, or refused at the start.
 */
class SuspendingTests {

	private static final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class))
		.withPropertyValues("llm.resilience.providers.anthropic.retry.base-delay=1ms",
				"llm.resilience.providers.openai.retry.base-delay=1ms");

	private static void with(int failures, Consumer<SuspendingChat> test) {
		runner.withBean(SuspendingChat.class)
			.run((context) -> test.accept(context.getBean(SuspendingChat.class).failing(failures)));
	}

	private static Arguments row(String name, Function<Calls, @Nullable Object> call, @Nullable Object result) {
		return Arguments.of(name, call, result);
	}

	static Stream<Arguments> functions() {
		return Stream.of(row("a value", Calls::ask, "answer to q"), row("nothing", (calls) -> {
			calls.askForNothing();
			return Unit.INSTANCE;
		}, Unit.INSTANCE), row("null", Calls::askInVain, null),
				row("a flow, after it suspended", Calls::words, List.of("answer", "to", "q")),
				row("a flow, without suspending", Calls::stream, List.of("answer", "to", "q")),
				row("a value, or its fallback's", Calls::askOr, "answer to q"));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("functions")
	void aFailureThatCanPassIsRetried(String name, Function<Calls, @Nullable Object> call, @Nullable Object result) {
		with(2, (chat) -> {
			assertThat(call.apply(new Calls(chat))).isEqualTo(result);
			assertThat(chat.attempts()).isEqualTo(3);
		});
	}

	@Test
	void theCallerGetsTheExceptionWithTheReport() {
		with(9, (chat) -> {
			Throwable thrown = catchThrowable(() -> new Calls(chat).ask());
			assertThat(thrown).isInstanceOf(UncheckedIOException.class);
			assertThat(chat.attempts()).isEqualTo(4);
			assertThat(Objects.requireNonNull(report(thrown)).attempts()).hasSize(4);
		});
	}

	/** The machinery of coroutines may copy an exception, with the original as cause. */
	private static @Nullable LlmCallReport report(Throwable thrown) {
		LlmCallReport report = LlmCallReport.find(thrown);
		Throwable cause = thrown.getCause();
		return (report == null && cause != null) ? report(cause) : report;
	}

	@Test
	void itsFallbackMayTakeTheFailure() {
		with(9, (chat) -> assertThat(new Calls(chat).askOr()).isEqualTo("q: refused"));
	}

	@Test
	void anotherProviderTakesOver() {
		with(4, (chat) -> {
			assertThat(new Calls(chat).askEither()).isEqualTo("answer to q");
			assertThat(chat.providers()).containsExactly("anthropic", "anthropic", "anthropic", "anthropic", "openai");
		});
	}

	@Test
	void equalCallsShareOne() {
		with(0, (chat) -> {
			assertThat(new Calls(chat).askTogether()).hasSize(5).containsOnly("answer to q");
			assertThat(chat.attempts()).isEqualTo(1);
		});
	}

	@Test
	void behindAProxyOfItsInterfaceItIsRetriedToo() {
		runner.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean(SuspendingClient.class)
			.run((context) -> assertThat(Calls.ask(context.getBean(SuspendingApi.class))).isEqualTo("answer to q"));
	}

	/** As where Spring has nothing to make a publisher with. */
	@Test
	void whatCannotBeRetriedStopsTheStart() {
		runner.withBean(NotOfKotlin.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidLlmRetryException.class)
				.hasMessage("@LlmRetry(provider = \"anthropic\") on " + NotOfKotlin.class.getName()
						+ ".ask cannot retry a suspending function here: nothing makes a publisher of it")
				.extracting((thrown) -> ((InvalidLlmRetryException) thrown).action())
				.asString()
				.contains("kotlinx-coroutines-reactor", "kotlin-reflect"));
	}

	static class NotOfKotlin {

		@LlmRetry("anthropic")
		@Nullable Object ask(String question, Continuation<? super String> continuation) {
			return null;
		}

	}

}
