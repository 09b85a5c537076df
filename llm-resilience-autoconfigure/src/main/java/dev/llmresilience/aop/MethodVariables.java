package dev.llmresilience.aop;

import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * The arguments of a method as variables of an expression: by position, {@code #p0} or
 * {@code #a0}, and by name where the code was compiled with {@code -parameters}.
 * Immutable; thread-safe.
 */
final class MethodVariables {

	private static final ParameterNameDiscoverer DISCOVERER = new DefaultParameterNameDiscoverer();

	/** What reflection has found out, shared by all evaluations. */
	private static final StandardEvaluationContext SHARED = new StandardEvaluationContext();

	private final Map<String, Integer> positions = new LinkedHashMap<>();

	/**
	 * Creates the variables.
	 * @param declarations one method, as different types declare it; the names of an
	 * earlier one win
	 */
	MethodVariables(List<Method> declarations) {
		for (Method declaration : declarations) {
			@Nullable String @Nullable [] names = DISCOVERER.getParameterNames(declaration);
			for (int i = 0; names != null && i < names.length; i++) {
				if (names[i] != null) {
					this.positions.putIfAbsent(names[i], i);
				}
			}
		}
		for (int i = 0; i < declarations.get(0).getParameterCount(); i++) {
			this.positions.putIfAbsent("p" + i, i);
			this.positions.putIfAbsent("a" + i, i);
		}
	}

	/**
	 * The names of all variables.
	 * @return the names, those of the parameters before those of their positions
	 */
	Set<String> names() {
		return this.positions.keySet();
	}

	/**
	 * The type that a variable is declared with.
	 * @param name the name
	 * @param method the method
	 * @param root the type of the object behind the proxy
	 * @return the type of the parameter, {@code root} for anything else
	 */
	Class<?> typeOf(String name, Method method, Class<?> root) {
		Integer position = this.positions.get(name);
		return (position != null) ? method.getParameterTypes()[position] : root;
	}

	/**
	 * The variables of one call.
	 * @param target the object behind the proxy, or {@code null}
	 * @param arguments the arguments
	 * @return the context to evaluate in
	 */
	StandardEvaluationContext of(@Nullable Object target, @Nullable Object[] arguments) {
		StandardEvaluationContext context = new StandardEvaluationContext(target) {

			@Override
			public @Nullable Object lookupVariable(String name) {
				Integer position = MethodVariables.this.positions.get(name);
				return (position != null) ? arguments[position] : super.lookupVariable(name);
			}

		};
		SHARED.applyDelegatesTo(context);
		return context;
	}

}
