package dev.llmresilience.aop;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import dev.llmresilience.LlmRetry;

import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Matches every method for which an {@link LlmRetry} holds, and remembers the classes in
 * which it found one, so that they can be checked once the application has started.
 * Thread-safe.
 */
public final class LlmRetryPointcut extends StaticMethodMatcherPointcut {

	private final Set<Class<?>> matched = ConcurrentHashMap.newKeySet();

	private final Set<Method> unreachable = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the pointcut.
	 */
	public LlmRetryPointcut() {
		setClassFilter((type) -> AnnotationUtils.isCandidateClass(type, LlmRetry.class));
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		if (LlmRetryAnnotations.find(method, targetClass) == null) {
			if (method.isAnnotationPresent(LlmRetry.class)) {
				this.unreachable.add(method);
			}
			return false;
		}
		this.matched.add(targetClass);
		return true;
	}

	/**
	 * The classes of the beans that have protected methods.
	 * @return the classes so far
	 */
	Set<Class<?>> matched() {
		return Set.copyOf(this.matched);
	}

	/**
	 * The annotated methods that no proxy can stand before.
	 * @return the methods so far
	 */
	Set<Method> unreachable() {
		return Set.copyOf(this.unreachable);
	}

}
