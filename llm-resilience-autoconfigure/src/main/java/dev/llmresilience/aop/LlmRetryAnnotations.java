package dev.llmresilience.aop;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import dev.llmresilience.LlmRetry;
import dev.llmresilience.aop.PolicySource.Placement;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the annotation that holds for a method: merged with what it is composed of, and
 * wherever in the hierarchy it stands.
 */
final class LlmRetryAnnotations {

	private LlmRetryAnnotations() {
	}

	/**
	 * Looks at the method that will really run, then at the class that it runs on, then
	 * at the method that was called, then at the type that declares that one. The last
	 * two differ from the first two where the proxy only knows the interface.
	 * @param method the method that was called
	 * @param targetClass the class of the object behind the proxy, or {@code null}
	 * @return the annotation, or {@code null} if none holds
	 */
	static @Nullable LlmRetry find(Method method, @Nullable Class<?> targetClass) {
		for (AnnotatedElement place : places(method, targetClass)) {
			LlmRetry found = merged(place);
			if (found != null) {
				return found;
			}
		}
		return null;
	}

	/**
	 * Where the annotation stands that {@link #find} finds.
	 * @param method the method that was called
	 * @param targetClass the class of the object behind the proxy
	 * @return the source, or {@code null} if none holds
	 */
	static @Nullable PolicySource source(Method method, Class<?> targetClass) {
		for (AnnotatedElement place : places(method, targetClass)) {
			MergedAnnotation<LlmRetry> found = MergedAnnotations.from(place, SearchStrategy.TYPE_HIERARCHY)
				.get(LlmRetry.class);
			if (found.isPresent()) {
				return source(found);
			}
		}
		return null;
	}

	/**
	 * The annotations that the one of {@link #find} is composed of.
	 * @param method the method that was called
	 * @param targetClass the class of the object behind the proxy
	 * @return their types, from the annotation itself to the one that stands there
	 */
	static List<Class<?>> composed(Method method, Class<?> targetClass) {
		List<Class<?>> types = new ArrayList<>();
		for (AnnotatedElement place : places(method, targetClass)) {
			MergedAnnotation<?> next = MergedAnnotations.from(place, SearchStrategy.TYPE_HIERARCHY).get(LlmRetry.class);
			while (next != null && next.isPresent()) {
				types.add(next.getType());
				next = next.getMetaSource();
			}
			if (!types.isEmpty()) {
				break;
			}
		}
		return types;
	}

	private static @Nullable PolicySource source(MergedAnnotation<LlmRetry> annotation) {
		Class<?> root = annotation.getRoot().getType();
		String composed = (root != LlmRetry.class) ? root.getName() : null;
		if (annotation.getSource() instanceof Method method) {
			Class<?> type = method.getDeclaringClass();
			return new PolicySource(type.isInterface() ? Placement.INTERFACE_METHOD : Placement.METHOD, type.getName(),
					composed);
		}
		if (annotation.getSource() instanceof Class<?> type) {
			return new PolicySource(type.isInterface() ? Placement.INTERFACE : Placement.CLASS, type.getName(),
					composed);
		}
		return null;
	}

	private static List<AnnotatedElement> places(Method method, @Nullable Class<?> targetClass) {
		if (ReflectionUtils.isObjectMethod(method) || !isReachable(method)) {
			return List.of();
		}
		Class<?> userClass = (targetClass != null) ? ClassUtils.getUserClass(targetClass) : method.getDeclaringClass();
		Method specific = AopUtils.getMostSpecificMethod(method, userClass);
		return specific.equals(method) ? List.of(specific, userClass, method.getDeclaringClass())
				: List.of(specific, userClass, method, method.getDeclaringClass());
	}

	/**
	 * Looks at the method alone, for one that only a weaver reaches: what stands on a
	 * class does not hold for its private and static methods.
	 * @param method the method
	 * @return the annotation, or {@code null} if none holds
	 */
	static @Nullable LlmRetry findOn(Method method) {
		return merged(method);
	}

	/**
	 * No proxy can stand before a private or a static method.
	 */
	static boolean isReachable(Method method) {
		return !Modifier.isPrivate(method.getModifiers()) && !Modifier.isStatic(method.getModifiers());
	}

	private static @Nullable LlmRetry merged(AnnotatedElement element) {
		return AnnotatedElementUtils.findMergedAnnotation(element, LlmRetry.class);
	}

	/**
	 * The same method, as different types declare it: the names of its parameters may
	 * differ, and those where the annotation stands are meant.
	 * @param specific the method that will really run
	 * @param called the method that was called
	 * @param userClass the class that it runs on
	 * @return the declarations, the annotated one first
	 */
	static List<Method> declarations(Method specific, Method called, Class<?> userClass) {
		Set<Method> declarations = new LinkedHashSet<>();
		if (MergedAnnotations.from(specific, SearchStrategy.TYPE_HIERARCHY)
			.get(LlmRetry.class)
			.getSource() instanceof Method annotated) {
			declarations.add(annotated);
		}
		declarations.add(specific);
		declarations.add(called);
		for (Class<?> type : ClassUtils.getAllInterfacesForClassAsSet(userClass)) {
			Method declared = ClassUtils.getMethodIfAvailable(type, specific.getName(), specific.getParameterTypes());
			if (declared != null) {
				declarations.add(declared);
			}
		}
		return List.copyOf(declarations);
	}

}
