package dev.llmresilience.aop;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

import dev.llmresilience.LlmRetry;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
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
		if (ReflectionUtils.isObjectMethod(method) || !isReachable(method)) {
			return null;
		}
		Class<?> userClass = (targetClass != null) ? ClassUtils.getUserClass(targetClass) : method.getDeclaringClass();
		Method specific = AopUtils.getMostSpecificMethod(method, userClass);
		LlmRetry found = merged(specific);
		if (found == null) {
			found = merged(userClass);
		}
		if (found == null && !specific.equals(method)) {
			found = merged(method);
		}
		return (found != null) ? found : merged(method.getDeclaringClass());
	}

	/**
	 * No proxy can stand before a private or a static method.
	 */
	private static boolean isReachable(Method method) {
		return !Modifier.isPrivate(method.getModifiers()) && !Modifier.isStatic(method.getModifiers());
	}

	private static @Nullable LlmRetry merged(AnnotatedElement element) {
		return AnnotatedElementUtils.findMergedAnnotation(element, LlmRetry.class);
	}

}
