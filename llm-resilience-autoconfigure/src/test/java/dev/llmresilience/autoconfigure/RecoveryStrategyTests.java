package dev.llmresilience.autoconfigure;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import dev.llmresilience.LlmRetry;
import dev.llmresilience.Priority;
import dev.llmresilience.Recovery;
import dev.llmresilience.RecoveryStrategy;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Methods that name a strategy, in a real application.
 */
@ExtendWith(OutputCaptureExtension.class)
class RecoveryStrategyTests {

	private static final String ON = " on dev.llmresilience.autoconfigure.RecoveryStrategyTests$";

	@Test
	void aToolWhoseStrategyRetriesForEverRunsSixTimes() {
		try (ConfigurableApplicationContext context = start(Tools.class)) {
			Tools tools = context.getBean(Tools.class);
			assertThatException().isThrownBy(() -> tools.retried("a")).withMessage("broken");
			assertThat(tools.runs()).isEqualTo(6);
		}
	}

	@Test
	void aToolWhoseStrategySkipsAnswersWithItsValue() {
		try (ConfigurableApplicationContext context = start(Tools.class)) {
			Tools tools = context.getBean(Tools.class);
			assertThat(tools.skipped("a")).isEqualTo("skipped skipped(a) after 1: APPLICATION");
			assertThat(tools.runs()).isEqualTo(1);
		}
	}

	@Test
	void aToolWhoseStrategyFailsRunsOnce() {
		try (ConfigurableApplicationContext context = start(Tools.class)) {
			Tools tools = context.getBean(Tools.class);
			assertThatException().isThrownBy(() -> tools.failed("a")).withMessage("broken");
			assertThat(tools.runs()).isEqualTo(1);
		}
	}

	@Test
	void maxAttemptsGoesTogetherWithAStrategy() {
		try (ConfigurableApplicationContext context = start(Tools.class)) {
			Tools tools = context.getBean(Tools.class);
			assertThatException().isThrownBy(() -> tools.retriedOnce("a")).withMessage("broken");
			assertThat(tools.runs()).isEqualTo(2);
		}
	}

	@Test
	void aStrategyThatNoMethodNamesHoldsForNone() {
		try (ConfigurableApplicationContext context = new Starts().with(Unnamed.class).run()) {
			Unnamed tool = context.getBean(Unnamed.class);
			assertThatException().isThrownBy(tool::call).withMessage("broken");
			assertThat(tool.runs()).isEqualTo(1);
		}
	}

	@Test
	void theWholeMessageOfAnUnknownStrategyListsTheKnownOnes(CapturedOutput output) {
		new Starts().with(Unknown.class).fail();
		assertThat(output).contains("""
				Description:

				@LlmRetry(recovery = "sendOnze")%sUnknown.call names no bean of type RecoveryStrategy: \
				known are [failing, retrying, skipping].

				Action:

				Use the name of such a bean, or add one.
				""".formatted(ON));
	}

	@Test
	void aBeanOfAnotherTypeIsNoStrategy(CapturedOutput output) {
		new Starts().with(AnotherType.class).fail();
		assertThat(output).contains("@LlmRetry(recovery = \"text\")" + ON
				+ "AnotherType.call names no bean of type RecoveryStrategy: there are none.");
	}

	@ParameterizedTest
	@ValueSource(classes = { ReturnsFuture.class, ReturnsMono.class, ReturnsFlux.class })
	void aMethodThatReturnsBeforeItsResultIsRefused(Class<?> tool, CapturedOutput output) {
		new Starts().with(tool).fail();
		String type = tool.getSimpleName().replace("Returns", "").replace("Future", "CompletableFuture");
		assertThat(output)
			.contains("@LlmRetry(recovery = \"failing\")" + ON + tool.getSimpleName()
					+ ".call cannot work: the method returns a " + type + " before it is known whether it fails.")
			.contains("Annotate a method that returns the result itself.");
	}

	static Stream<Arguments> together() {
		return Stream.of(Arguments.of(WithFallback.class, List.of("fallbackMethod")),
				Arguments.of(WithMuch.class, List.of("failover", "noRetryOn", "priority", "timeout")));
	}

	@ParameterizedTest
	@MethodSource("together")
	void whatAStrategyWouldIgnoreIsRefused(Class<?> tool, List<String> attributes, CapturedOutput output) {
		new Starts().with(tool).fail();
		assertThat(output)
			.contains("@LlmRetry(recovery = \"failing\")" + ON + tool.getSimpleName() + ".call leaves no room for "
					+ attributes + ": the strategy alone decides what follows a failure.")
			.contains("Remove these attributes, or remove recovery if the method calls a model.");
	}

	private static ConfigurableApplicationContext start(Class<?> configuration) {
		return new Starts().with(configuration).run();
	}

	@Import(Strategies.class)
	static class Tools {

		private int runs;

		@LlmRetry(recovery = "retrying")
		@Nullable String retried(String text) {
			return fail();
		}

		@LlmRetry(recovery = "skipping")
		@Nullable String skipped(String text) {
			return fail();
		}

		@LlmRetry(recovery = "failing")
		@Nullable String failed(String text) {
			return fail();
		}

		@LlmRetry(recovery = "retrying", maxAttempts = 2, idempotent = false)
		@Nullable String retriedOnce(String text) {
			return fail();
		}

		private @Nullable String fail() {
			this.runs++;
			throw new IllegalStateException("broken");
		}

		int runs() {
			return this.runs;
		}

	}

	static class Strategies {

		@Bean
		RecoveryStrategy retrying() {
			return (run) -> Recovery.retry();
		}

		@Bean
		RecoveryStrategy skipping() {
			return (run) -> Recovery.skip("skipped " + run.method().getName() + "(" + run.arguments().get(0)
					+ ") after " + run.runs() + ": " + run.failure().kind());
		}

		@Bean
		RecoveryStrategy failing() {
			return (run) -> Recovery.fail();
		}

	}

	static class Unnamed {

		private int runs;

		@LlmRetry
		void call() {
			this.runs++;
			throw new IllegalStateException("broken");
		}

		int runs() {
			return this.runs;
		}

		@Bean
		static RecoveryStrategy only() {
			return (run) -> Recovery.retry();
		}

	}

	@Import(Strategies.class)
	static class Unknown {

		@LlmRetry(recovery = "sendOnze")
		void call() {
		}

	}

	static class AnotherType {

		@LlmRetry(recovery = "text")
		void call() {
		}

		@Bean
		static String text() {
			return "text";
		}

	}

	@Import(Strategies.class)
	static class ReturnsFuture {

		@LlmRetry(recovery = "failing")
		CompletableFuture<String> call() {
			return new CompletableFuture<>();
		}

	}

	@Import(Strategies.class)
	static class ReturnsMono {

		@LlmRetry(recovery = "failing")
		Mono<String> call() {
			return Mono.empty();
		}

	}

	@Import(Strategies.class)
	static class ReturnsFlux {

		@LlmRetry(recovery = "failing")
		Flux<String> call() {
			return Flux.empty();
		}

	}

	@Import(Strategies.class)
	static class WithFallback {

		@LlmRetry(recovery = "failing", fallbackMethod = "instead")
		void call() {
		}

		void instead() {
		}

	}

	@Import(Strategies.class)
	static class WithMuch {

		@LlmRetry(recovery = "failing", timeout = "3s", priority = Priority.LOW, failover = "openai",
				noRetryOn = IllegalStateException.class)
		void call() {
		}

	}

}
