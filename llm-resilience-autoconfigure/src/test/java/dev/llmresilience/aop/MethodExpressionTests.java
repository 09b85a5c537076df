package dev.llmresilience.aop;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class MethodExpressionTests {

	private static final Method METHOD = method(Chat.class);

	private static final String ON = " on dev.llmresilience.aop.MethodExpressionTests$Chat.call ";

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			#tenant                       | acme
			#p0                           | acme
			#a0                           | acme
			#tenant + '/' + #list[0]      | acme/x
			#list.![length()]             | [1]
			#list.?[#this == 'x']         | [x]
			#root.prefix + #tenant        | my-acme
			prefix + #tenant              | my-acme
			of(#tenant)                   | of acme
			T(String).join('-', #list)    | x
			#tenant == 'a' ? 'one' : null | null
			'batch'                       | batch
			2 * 750 + 500                 | 2000
			null                          | null
			""")
	void isEvaluatedOverTheArgumentsAndTheBean(String text, String expected) {
		assertThat(String.valueOf(evaluate(parse(text), "acme"))).isEqualTo(expected);
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '`',
			value = { "2000, true", "2 * 750 + 500, true", "'batch', true", "null, true", "-1, true", "#tenant, false",
					"2 * #list.size(), false", "prefix, false", "{1}, false", "T(Math).random(), false",
					"of('x'), false" })
	void aConstantIsEvaluatedOnce(String text, boolean constant) {
		assertThat(parse(text).isConstant()).isEqualTo(constant);
	}

	@ParameterizedTest
	@ValueSource(strings = { "#tenat", "#tenant.concat(#tenat)", "#tenat.name", "{#tenat}", "#list.?[#tenat == #this]",
			"#tenant ?: #tenat", "#list[#tenat]", "#tenat = 'x'" })
	void aNameThatIsNoParameterIsRefusedWithThoseThatThereAre(String text) {
		assertThatExceptionOfType(InvalidLlmRetryException.class).isThrownBy(() -> parse(text))
			.withMessage("@LlmRetry(key = \"" + text + "\")" + ON
					+ "names #tenat, which is no parameter: known are [#tenant, #list, #p0, #a0, #p1, #a1]")
			.satisfies((ex) -> assertThat(ex.action()).isEqualTo("Use one of the known names. Those of parameters are "
					+ "only known where the code is compiled with -parameters."));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					#tenant +            | is not a SpEL expression:      | Use an expression over the arguments
					#tenant)             | is not a SpEL expression:      | Use an expression over the arguments
					${my.key}            | is not a SpEL expression:      | Use an expression over the arguments
					` `                  | is not a SpEL expression: there is nothing to evaluate, at position 0 | Use an expression over the arguments
					tenant               | reads a property 'tenant' of the bean, which has none | Write #tenant for the argument.
					tenant.length()      | reads a property 'tenant' of the bean, which has none | Write #tenant for the argument.
					'a' + tenant         | reads a property 'tenant' of the bean, which has none | Write #tenant for the argument.
					#hash(#tenant)       | calls #hash(#tenant), and there are no functions | Call a method of an argument
					@tenants.of(#tenant) | names the bean @tenants, and only arguments can be named | Call a method of an argument
					1 / 0                | cannot be evaluated: java.lang.ArithmeticException | Use an expression that has a value.
					""")
	void whatCannotWorkIsRefused(String text, String problem, String action) {
		assertThatExceptionOfType(InvalidLlmRetryException.class).isThrownBy(() -> parse(text))
			.withMessageStartingWith("@LlmRetry(key = \"" + text + "\")" + ON + problem)
			.satisfies((ex) -> assertThat(ex.action()).startsWith(action));
	}

	@Test
	void aPropertyOfTheBeanMayHaveTheNameOfAParameter() {
		MethodExpression expression = MethodExpression.parse(method(WithTenant.class), WithTenant.class, "key",
				"tenant + list", new MethodVariables(List.of(method(WithTenant.class))));
		assertThat(expression.evaluate(new WithTenant(), new Object[] { "acme", List.of("x") })).isEqualTo("mine7");
	}

	@Test
	void callsOnManyThreadsGetTheirOwnValues() throws Exception {
		MethodExpression expression = parse("of(#tenant) + #list[0]");
		ExecutorService executor = Executors.newFixedThreadPool(4);
		List<Future<?>> running = new ArrayList<>();
		for (int thread = 0; thread < 4; thread++) {
			String tenant = "tenant " + thread;
			running.add(executor.submit(() -> {
				for (int i = 0; i < 5_000; i++) {
					assertThat(evaluate(expression, tenant)).isEqualTo("of " + tenant + "x");
				}
			}));
		}
		for (Future<?> thread : running) {
			thread.get(30, TimeUnit.SECONDS);
		}
		executor.shutdown();
	}

	private static MethodExpression parse(String text) {
		return MethodExpression.parse(METHOD, Chat.class, "key", text, new MethodVariables(List.of(METHOD)));
	}

	private static @Nullable Object evaluate(MethodExpression expression, String tenant) {
		return expression.evaluate(new Chat(), new Object[] { tenant, List.of("x") });
	}

	private static Method method(Class<?> type) {
		return ClassUtils.getMethod(type, "call", String.class, List.class);
	}

	/** Public, as expressions may call only what is. */
	public static class Chat {

		public void call(String tenant, List<String> list) {
		}

		public String getPrefix() {
			return "my-";
		}

		public String of(String tenant) {
			return "of " + tenant;
		}

	}

	/** Public, as expressions may read only what is. */
	public static class WithTenant {

		public final int list = 7;

		public void call(String tenant, List<String> list) {
		}

		public String getTenant() {
			return "mine";
		}

	}

}
