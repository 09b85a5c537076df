package dev.llmresilience.aop;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.Operator;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * A SpEL expression over the arguments of a protected method, an attribute of its
 * annotation: parsed and checked once, evaluated with each call. Its value may be
 * anything, a prompt too, so it is never shown. Immutable; thread-safe.
 */
final class MethodExpression {

	private static final SpelExpressionParser PARSER = new SpelExpressionParser();

	private final Method method;

	private final String attribute;

	private final SpelExpression expression;

	private final MethodVariables variables;

	private final boolean constant;

	private final @Nullable Object constantValue;

	private MethodExpression(Method method, String attribute, SpelExpression expression, MethodVariables variables) {
		this.method = method;
		this.attribute = attribute;
		this.expression = expression;
		this.variables = variables;
		this.constant = isConstant(expression.getAST());
		this.constantValue = this.constant ? constantValue() : null;
	}

	/**
	 * Parses an expression.
	 * @param method the protected method, as the class implements it
	 * @param targetClass the class that the expression may read
	 * @param attribute the attribute of the annotation
	 * @param text its value
	 * @param variables what the expression may name
	 * @return the expression
	 * @throws InvalidLlmRetryException if it cannot work
	 */
	static MethodExpression parse(Method method, Class<?> targetClass, String attribute, String text,
			MethodVariables variables) {
		SpelExpression expression;
		try {
			if (text.isBlank()) {
				throw new ParseException(0, "there is nothing to evaluate");
			}
			expression = PARSER.parseRaw(text);
		}
		catch (ParseException ex) {
			throw new InvalidLlmRetryException(method, attribute, text,
					"is not a SpEL expression: " + ex.getSimpleMessage() + ", at position " + ex.getPosition(),
					"Use an expression over the arguments such as \"#p0\" or \"#text.length() / 4\".");
		}
		new ExpressionCheck(method, targetClass, attribute, text, variables).check(expression.getAST());
		return new MethodExpression(method, attribute, expression, variables);
	}

	/** Whether it has the same value for each call. */
	private static boolean isConstant(SpelNode node) {
		if (!(node instanceof Literal) && !(node instanceof Operator)) {
			return false;
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			if (!isConstant(node.getChild(i))) {
				return false;
			}
		}
		return true;
	}

	private @Nullable Object constantValue() {
		try {
			return this.expression.getValue();
		}
		catch (RuntimeException ex) {
			throw invalid("cannot be evaluated: " + describe(ex), "Use an expression that has a value.");
		}
	}

	/**
	 * Whether each call gets the same value.
	 * @return whether there is nothing to evaluate
	 */
	boolean isConstant() {
		return this.constant;
	}

	/**
	 * Evaluates the expression.
	 * @param target the object behind the proxy, or {@code null}
	 * @param arguments the arguments of the call
	 * @return its value
	 * @throws RuntimeException whatever the evaluation throws
	 */
	@Nullable Object evaluate(@Nullable Object target, @Nullable Object[] arguments) {
		return this.constant ? this.constantValue
				: OwnInvocation.read(target, () -> this.expression.getValue(this.variables.of(target, arguments)));
	}

	/**
	 * Names what an evaluation threw. Its message is not for the log: it may hold
	 * anything.
	 * @param thrown what it threw
	 * @return a code or a type
	 */
	static String describe(RuntimeException thrown) {
		return (thrown instanceof SpelEvaluationException ex) ? ex.getMessageCode().name()
				: thrown.getClass().getName();
	}

	/**
	 * Tells where an evaluation threw, for the cause of another exception. What it threw
	 * itself is no cause to show: its message may hold anything.
	 * @param thrown what it threw
	 * @return its name, as {@linkplain #describe described}, and its stack trace
	 */
	static RuntimeException withoutMessage(RuntimeException thrown) {
		RuntimeException copy = new IllegalStateException(describe(thrown));
		copy.setStackTrace(thrown.getStackTrace());
		return copy;
	}

	/**
	 * Something is wrong with the expression that shows at the start.
	 * @param problem what is wrong, as the end of a sentence
	 * @param action what to do
	 * @return the exception
	 */
	InvalidLlmRetryException invalid(String problem, String action) {
		return new InvalidLlmRetryException(this.method, this.attribute, this.expression.getExpressionString(), problem,
				action);
	}

	/** The annotation and the method, for messages. */
	@Override
	public String toString() {
		return "@LlmRetry(" + this.attribute + " = \"" + this.expression.getExpressionString() + "\") on "
				+ this.method.getDeclaringClass().getName() + "." + this.method.getName();
	}

}
