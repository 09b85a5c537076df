package dev.llmresilience.aop;

import java.lang.reflect.Method;

import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.util.ClassUtils;

/**
 * Knows Kotlin's suspending functions. Behind a proxy Spring makes a publisher of one, if
 * the libraries are there that it needs for that, and a continuation again of whatever
 * publisher the advice returns. Elsewhere one returns before its result, and only its
 * continuation knows when.
 */
final class Suspending {

	private static final String CONTINUATION = "kotlin.coroutines.Continuation";

	private static final String FLOW = "kotlinx.coroutines.flow.Flow";

	private static final boolean ADAPTERS = KotlinDetector.isKotlinReflectPresent()
			&& ClassUtils.isPresent("kotlinx.coroutines.reactor.MonoKt", Suspending.class.getClassLoader());

	private Suspending() {
	}

	/**
	 * Whether a method is a suspending function: the compiler adds the continuation as
	 * its last parameter.
	 */
	static boolean is(Method method) {
		Class<?>[] parameters = method.getParameterTypes();
		return parameters.length > 0 && parameters[parameters.length - 1].getName().equals(CONTINUATION);
	}

	/** Whether Spring makes a publisher of it. */
	static boolean isPublished(Method method) {
		return ADAPTERS && KotlinDetector.isKotlinType(method.getDeclaringClass())
				&& KotlinDetector.isSuspendingFunction(method);
	}

	/** Whether that publisher is one of several elements. */
	static boolean isFlow(Method method) {
		return new MethodParameter(method, -1).getParameterType().getName().equals(FLOW);
	}

}
