package dev.llmresilience.aop;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import dev.llmresilience.LlmRetry;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.annotation.ReflectiveRuntimeHintsRegistrar;
import org.springframework.core.MethodIntrospector;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * What a native image has to keep of a class with protected methods, because it is only
 * reached by reflection: the annotations, the fallback methods, and what the expressions
 * of the annotations read.
 */
public final class ProtectedMethodHints {

	private final RuntimeHints hints;

	private final Class<?> type;

	private ProtectedMethodHints(RuntimeHints hints, Class<?> type) {
		this.hints = hints;
		this.type = type;
	}

	/**
	 * Whether a class has protected methods.
	 * @param type the class of a bean
	 * @return whether an annotation holds for any of its methods
	 */
	public static boolean isNeededBy(Class<?> type) {
		return !methods(type).isEmpty();
	}

	/**
	 * Keeps what the protected methods of a class need. What is wrong with an annotation
	 * is not reported here, but at the start.
	 * @param hints where it is noted
	 * @param type the class of a bean
	 */
	public static void register(RuntimeHints hints, Class<?> type) {
		ProtectedMethodHints registrar = new ProtectedMethodHints(hints, ClassUtils.getUserClass(type));
		new ReflectiveRuntimeHintsRegistrar().registerRuntimeHints(hints,
				annotatedTypes(registrar.type).toArray(Class<?>[]::new));
		methods(registrar.type).forEach(registrar::register);
	}

	private static Set<Method> methods(Class<?> type) {
		Class<?> userClass = ClassUtils.getUserClass(type);
		return MethodIntrospector.selectMethods(userClass,
				(Method method) -> LlmRetryAnnotations.find(method, userClass) != null);
	}

	/** Where an annotation may stand. */
	private static Set<Class<?>> annotatedTypes(Class<?> type) {
		Set<Class<?>> types = new LinkedHashSet<>(ClassUtils.getAllInterfacesForClassAsSet(type));
		for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
			types.add(each);
		}
		return types;
	}

	private void register(Method method) {
		LlmRetry annotation = LlmRetryAnnotations.find(method, this.type);
		if (annotation == null) {
			return;
		}
		ReflectionHints reflection = this.hints.reflection();
		reflection.registerMethod(method, ExecutableMode.INVOKE);
		LlmRetryAnnotations.composed(method, this.type)
			.forEach((composed) -> reflection.registerType(composed, MemberCategory.INVOKE_DECLARED_METHODS));
		Method specific = AopUtils.getMostSpecificMethod(method, this.type);
		if (!annotation.fallbackMethod().isEmpty()) {
			try {
				reflection.registerMethod(FallbackMethod.of(annotation.fallbackMethod(), specific, this.type).method(),
						ExecutableMode.INVOKE);
			}
			catch (InvalidLlmRetryException ex) {
				// The start says so.
			}
		}
		for (String expression : new String[] { annotation.key(), annotation.tokens(), annotation.deduplicate() }) {
			register(expression, method, specific);
		}
	}

	private void register(String text, Method method, Method specific) {
		if (text.isEmpty()) {
			return;
		}
		SpelExpression expression;
		try {
			expression = new SpelExpressionParser().parseRaw(text);
		}
		catch (ParseException ex) {
			return;
		}
		List<Method> declarations = LlmRetryAnnotations.declarations(specific, method, this.type);
		walk(expression.getAST(), new MethodVariables(declarations), specific);
	}

	private void walk(SpelNode node, MethodVariables variables, Method method) {
		if (node instanceof CompoundExpression) {
			Class<?> type = this.type;
			for (int i = 0; i < node.getChildCount(); i++) {
				type = member(node.getChild(i), (i == 0) ? null : type, variables, method);
				walkChildren(node.getChild(i), variables, method);
			}
			return;
		}
		Class<?> unused = member(node, null, variables, method);
		walkChildren(node, variables, method);
	}

	private void walkChildren(SpelNode node, MethodVariables variables, Method method) {
		for (int i = 0; i < node.getChildCount(); i++) {
			walk(node.getChild(i), variables, method);
		}
	}

	/**
	 * Keeps what a node reads.
	 * @param node the node
	 * @param before the type of what stands before it, {@code null} at the beginning
	 * @param variables what the expression may name
	 * @param method the protected method
	 * @return the type of what it gives, {@code Object} where that is unknown
	 */
	private Class<?> member(SpelNode node, @Nullable Class<?> before, MethodVariables variables, Method method) {
		if (node instanceof VariableReference) {
			return keep(variables.typeOf(node.toStringAST().substring(1), method, this.type));
		}
		if (node instanceof TypeReference) {
			String name = node.getChild(0).toStringAST();
			return ClassUtils.isPresent(name, this.type.getClassLoader())
					? keep(ClassUtils.resolveClassName(name, this.type.getClassLoader())) : Object.class;
		}
		Class<?> owner = (before != null) ? before : this.type;
		if (node instanceof MethodReference called) {
			return keep(owner, called.getName());
		}
		if (node instanceof PropertyOrFieldReference property) {
			String name = StringUtils.capitalize(property.getName());
			return keep(owner, property.getName(), "get" + name, "is" + name);
		}
		return Object.class;
	}

	private Class<?> keep(Class<?> owner, String... names) {
		Class<?> kept = keep(owner);
		for (String name : names) {
			for (Method method : kept.getMethods()) {
				if (method.getName().equals(name)) {
					return keep(method.getReturnType());
				}
			}
			for (Field field : kept.getFields()) {
				if (field.getName().equals(name)) {
					return keep(field.getType());
				}
			}
		}
		return Object.class;
	}

	private Class<?> keep(Class<?> type) {
		if (!type.isPrimitive() && type != Object.class) {
			this.hints.reflection()
				.registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS, MemberCategory.ACCESS_PUBLIC_FIELDS);
		}
		return type;
	}

}
