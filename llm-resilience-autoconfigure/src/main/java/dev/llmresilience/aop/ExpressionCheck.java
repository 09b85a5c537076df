package dev.llmresilience.aop;

import java.lang.reflect.Method;
import java.util.stream.Collectors;

import org.springframework.beans.BeanUtils;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Operator;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.ReflectionUtils;

/**
 * Finds in an expression what can only fail, before the first call does: names that
 * nothing answers to.
 */
final class ExpressionCheck {

	private final Method method;

	private final Class<?> targetClass;

	private final String attribute;

	private final String text;

	private final MethodVariables variables;

	ExpressionCheck(Method method, Class<?> targetClass, String attribute, String text, MethodVariables variables) {
		this.method = method;
		this.targetClass = targetClass;
		this.attribute = attribute;
		this.text = text;
		this.variables = variables;
	}

	/**
	 * Checks an expression.
	 * @param root its root
	 * @throws InvalidLlmRetryException if it names what there is not
	 */
	void check(SpelNode root) {
		checkNames(root);
		checkProperties(root);
	}

	private void checkNames(SpelNode node) {
		if (node instanceof VariableReference) {
			String name = node.toStringAST().substring(1);
			if (!name.equals("root") && !name.equals("this") && !this.variables.names().contains(name)) {
				throw invalid("names #" + name + ", which is no parameter: known are " + known(),
						"Use one of the known names. Those of parameters are only known where the code is compiled "
								+ "with -parameters.");
			}
		}
		if (node instanceof FunctionReference) {
			throw invalid("calls " + node.toStringAST() + ", and there are no functions",
					"Call a method of an argument, such as \"#text.length()\", or a static one, such as "
							+ "\"T(com.example.Tokens).of(#text)\".");
		}
		if (node instanceof BeanReference) {
			throw invalid("names the bean " + node.toStringAST() + ", and only arguments can be named",
					"Call a method of an argument, such as \"#text.length()\", or of the annotated bean itself, such "
							+ "as \"tokensOf(#text)\".");
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			checkNames(node.getChild(i));
		}
	}

	/** The name of a parameter without its # is a property of the bean, if anything. */
	private void checkProperties(SpelNode node) {
		if (node instanceof PropertyOrFieldReference property) {
			String name = property.getName();
			if (this.variables.names().contains(name) && BeanUtils.getPropertyDescriptor(this.targetClass, name) == null
					&& ReflectionUtils.findField(this.targetClass, name) == null) {
				throw invalid("reads a property '" + name + "' of the bean, which has none",
						"Write #" + name + " for the argument.");
			}
		}
		else if (node instanceof CompoundExpression) {
			checkProperties(node.getChild(0));
		}
		else if (node instanceof Operator) {
			for (int i = 0; i < node.getChildCount(); i++) {
				checkProperties(node.getChild(i));
			}
		}
	}

	private String known() {
		return this.variables.names().stream().map((name) -> "#" + name).collect(Collectors.joining(", ", "[", "]"));
	}

	private InvalidLlmRetryException invalid(String problem, String action) {
		return new InvalidLlmRetryException(this.method, this.attribute, this.text, problem, action);
	}

}
