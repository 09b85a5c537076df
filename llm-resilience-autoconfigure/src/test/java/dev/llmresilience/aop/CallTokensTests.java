package dev.llmresilience.aop;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;

import dev.llmresilience.LlmRetry;
import dev.llmresilience.TokenEstimator;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.engine.BlockingDriver;
import dev.llmresilience.engine.CallEngine;
import dev.llmresilience.engine.GuardListener;
import dev.llmresilience.engine.ProviderSettings;
import dev.llmresilience.engine.Providers;
import dev.llmresilience.failure.DefaultFailureClassifier;
import dev.llmresilience.test.SettableTime;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.annotation.Order;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Where the estimate of a call's tokens comes from.
 */
@ExtendWith(OutputCaptureExtension.class)
class CallTokensTests {

	@ParameterizedTest
	@CsvSource({ "constant, 2000", "sum, 2000", "zero, 0", "byName, 507", "byPosition, 7", "ofDecimals, 1",
			"ofTheBean, 14", "staticMethod, 7", "ofAll, 7" })
	void anExpressionEstimatesTheTokensOfACall(String method, long expected) {
		assertThat(tokens(method, null, "a text!", 1.9)).isEqualTo(expected);
	}

	@Test
	void withoutAnExpressionTheEstimatorIsAskedWithTheMethodAndItsArguments() {
		TokenEstimator estimator = (method, arguments) -> method.getName().length() + arguments.length;
		assertThat(tokens("none", estimator, "a text!", 1.9)).isEqualTo(6);
		assertThat(tokens("constant", estimator, "a text!", 1.9)).as("its own expression wins").isEqualTo(2000);
	}

	@Test
	void withoutAnythingThereIsNoEstimate() {
		assertThat(plan("none", null).tokens()).isNull();
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, -1, Long.MIN_VALUE })
	void anEstimatorThatCannotTellLeavesItUnknown(long estimate, CapturedOutput output) {
		assertThat(tokens("none", (method, arguments) -> estimate, "a text!", 1.9)).isZero();
		assertThat(output).doesNotContain("estimate");
	}

	@Test
	void anEstimatorThatThrowsCostsOneLineAndNoCall(CapturedOutput output) {
		CallTokens tokens = Objects.requireNonNull(plan("none", new Broken()).tokens());
		assertThat(tokens.of(new Invocation(new Chat(), "a text!", 1.9))).isZero();
		assertThat(tokens.of(new Invocation(new Chat(), "a text!", 1.9))).isZero();
		assertThat(output)
			.containsOnlyOnce("No estimate of tokens: dev.llmresilience.aop.CallTokensTests$Broken for "
					+ "dev.llmresilience.aop.CallTokensTests$Chat.none threw java.lang.IllegalStateException")
			.doesNotContain("secret");
	}

	@ParameterizedTest
	@CsvSource({ "aText, gave a java.lang.String", "belowZero, gave a number that is below zero or not finite",
			"notANumber, gave a number that is below zero or not finite",
			"infinite, gave a number that is below zero or not finite",
			"throwing, threw java.lang.IllegalStateException", "unreadable, threw PROPERTY_OR_FIELD_NOT_READABLE" })
	void anExpressionThatGivesNoNumberOfTokensCostsOneLineAndNoCall(String method, String what, CapturedOutput output) {
		CallTokens tokens = Objects.requireNonNull(plan(method, null).tokens());
		assertThat(tokens.of(new Invocation(new Chat(), "secret", 1.9))).isZero();
		assertThat(tokens.of(new Invocation(new Chat(), "secret", 1.9))).isZero();
		assertThat(output).containsOnlyOnce("No estimate of tokens: @LlmRetry(tokens = \"")
			.contains("\") on dev.llmresilience.aop.CallTokensTests$Chat." + method + " " + what
					+ ". Such calls are taken to use what limiter.default-tokens says.")
			.doesNotContain("secret");
	}

	@Test
	void nullIsUnknownAndNoMistake(CapturedOutput output) {
		assertThat(tokens("nothing", null, "a text!", 1.9)).isZero();
		assertThat(output).doesNotContain("estimate");
	}

	@Test
	void theOnlyEstimatorOfTheApplicationIsUsed() {
		assertThat(tokensWith(One.class)).isEqualTo(1);
	}

	@Test
	void ofSeveralEstimatorsThePrimaryOneIsUsed() {
		assertThat(tokensWith(One.class, Two.class, APrimary.class)).isEqualTo(3);
	}

	@Test
	void ofSeveralEstimatorsWithoutAPrimaryOneTheFirstInOrderIsUsed() {
		assertThat(tokensWith(Two.class, One.class)).isEqualTo(1);
	}

	private static long tokensWith(Class<?>... configurations) {
		long[] tokens = new long[1];
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(LlmResilienceAutoConfiguration.class))
			.withUserConfiguration(configurations)
			.run((context) -> {
				MethodPlan plan = context.getBean(MethodPlans.class).find(method("none"), Chat.class);
				tokens[0] = tokens(Objects.requireNonNull(plan), "a text!", 1.9);
			});
		return tokens[0];
	}

	private static long tokens(String method, @Nullable TokenEstimator estimator, Object... arguments) {
		return tokens(plan(method, estimator), arguments);
	}

	private static long tokens(MethodPlan plan, Object... arguments) {
		return Objects.requireNonNull(plan.tokens()).of(new Invocation(new Chat(), arguments));
	}

	private static MethodPlan plan(String name, @Nullable TokenEstimator estimator) {
		Providers providers = new Providers(List.of(ProviderSettings.defaults("default")), new SettableTime(),
				GuardListener.NONE);
		RecoveryStrategies none = new RecoveryStrategies(
				new CallEngine(new SettableTime(), new DefaultFailureClassifier()), new StaticListableBeanFactory());
		CallShapes shapes = new CallShapes(
				new BlockingShape(
						new BlockingDriver(new CallEngine(new SettableTime(), new DefaultFailureClassifier()))),
				List.of());
		MethodPlans plans = new MethodPlans(providers, (text) -> text, true, estimator, shapes, none);
		return Objects.requireNonNull(plans.find(method(name), Chat.class));
	}

	private static Method method(String name) {
		try {
			return Chat.class.getMethod(name, String.class, double.class);
		}
		catch (NoSuchMethodException ex) {
			throw new AssertionError(ex);
		}
	}

	static final class Broken implements TokenEstimator {

		@Override
		public long estimate(Method method, @Nullable Object[] arguments) {
			throw new IllegalStateException("secret");
		}

	}

	/** Public, as expressions may call only what is. */
	public static class Chat {

		@LlmRetry(tokens = "2000")
		public void constant(String text, double number) {
		}

		@LlmRetry(tokens = "2 * 750 + 500")
		public void sum(String text, double number) {
		}

		@LlmRetry(tokens = "0")
		public void zero(String text, double number) {
		}

		@LlmRetry(tokens = "#text.length() + 500")
		public void byName(String text, double number) {
		}

		@LlmRetry(tokens = "#p0.length()")
		public void byPosition(String text, double number) {
		}

		@LlmRetry(tokens = "#a1")
		public void ofDecimals(String text, double number) {
		}

		@LlmRetry(tokens = "twice(#text)")
		public void ofTheBean(String text, double number) {
		}

		@LlmRetry(tokens = "T(java.util.List).of(1, 2, 3, 4, 5, 6, 7).size()")
		public void staticMethod(String text, double number) {
		}

		@LlmRetry(tokens = "#text.bytes.?[#this > 0].length")
		public void ofAll(String text, double number) {
		}

		@LlmRetry
		public void none(String text, double number) {
		}

		@LlmRetry(tokens = "#text")
		public void aText(String text, double number) {
		}

		@LlmRetry(tokens = "#number - 2")
		public void belowZero(String text, double number) {
		}

		@LlmRetry(tokens = "#number * T(Double).NaN")
		public void notANumber(String text, double number) {
		}

		@LlmRetry(tokens = "#number / 0.0")
		public void infinite(String text, double number) {
		}

		@LlmRetry(tokens = "failing(#text)")
		public void throwing(String text, double number) {
		}

		@LlmRetry(tokens = "#text.tokens")
		public void unreadable(String text, double number) {
		}

		@LlmRetry(tokens = "#text.length() > 0 ? null : 1")
		public void nothing(String text, double number) {
		}

		public int twice(String text) {
			return 2 * text.length();
		}

		public int failing(String text) {
			throw new IllegalStateException(text);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class One {

		@Bean
		@Order(1)
		TokenEstimator one() {
			return (method, arguments) -> 1;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Two {

		@Bean
		@Order(2)
		TokenEstimator two() {
			return (method, arguments) -> 2;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class APrimary {

		@Bean
		@Primary
		@Order(3)
		TokenEstimator three() {
			return (method, arguments) -> 3;
		}

	}

}
