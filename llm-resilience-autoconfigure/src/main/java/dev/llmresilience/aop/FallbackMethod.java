package dev.llmresilience.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The method that answers when a call has failed for good: of the same class, with the
 * same parameters, and perhaps the failure after them. Immutable; thread-safe.
 */
final class FallbackMethod {

	private final Method method;

	private final @Nullable Class<?> failureType;

	private FallbackMethod(Method method, @Nullable Class<?> failureType) {
		this.method = method;
		this.failureType = failureType;
	}

	/**
	 * Finds the fallback of a method.
	 * @param name the name of the fallback
	 * @param method the protected method, as the class implements it
	 * @param targetClass the class to look in
	 * @return the fallback
	 * @throws InvalidLlmRetryException if there is none that fits
	 */
	static FallbackMethod of(String name, Method method, Class<?> targetClass) {
		Class<?>[] same = parameters(method);
		for (Method candidate : ReflectionUtils.getAllDeclaredMethods(targetClass)) {
			FallbackMethod fallback = match(candidate, name, same, method);
			if (fallback != null) {
				return fallback;
			}
		}
		for (Class<?> type : ClassUtils.getAllInterfacesForClass(targetClass)) {
			for (Method candidate : type.getMethods()) {
				FallbackMethod fallback = candidate.isDefault() ? match(candidate, name, same, method) : null;
				if (fallback != null) {
					return fallback;
				}
			}
		}
		String parameters = Arrays.toString(Arrays.stream(same).map(Class::getSimpleName).toArray());
		throw new InvalidLlmRetryException(method, "fallbackMethod", name, "names no method that fits",
				"Add a method '" + name + "' to " + targetClass.getName() + " that takes " + parameters
						+ ", with or without a Throwable after them, and returns "
						+ method.getReturnType().getSimpleName() + ".");
	}

	/** The method that is called. */
	Method method() {
		return this.method;
	}

	private static @Nullable FallbackMethod match(Method candidate, String name, Class<?>[] same, Method method) {
		if (!candidate.getName().equals(name) || candidate.isBridge()
				|| !ClassUtils.isAssignable(method.getReturnType(), candidate.getReturnType())
				|| (Modifier.isStatic(method.getModifiers()) && !Modifier.isStatic(candidate.getModifiers()))
				|| Suspending.is(method) != Suspending.is(candidate)) {
			return null;
		}
		Class<?>[] parameters = parameters(candidate);
		Class<?> failureType = null;
		if (parameters.length == same.length + 1 && Throwable.class.isAssignableFrom(parameters[same.length])) {
			failureType = parameters[same.length];
		}
		else if (parameters.length != same.length) {
			return null;
		}
		for (int i = 0; i < same.length; i++) {
			if (!ClassUtils.isAssignable(parameters[i], same[i])) {
				return null;
			}
		}
		ReflectionUtils.makeAccessible(candidate);
		return new FallbackMethod(candidate, failureType);
	}

	/** Without the continuation of a suspending function. */
	private static Class<?>[] parameters(Method method) {
		Class<?>[] all = method.getParameterTypes();
		return Suspending.is(method) ? Arrays.copyOf(all, all.length - 1) : all;
	}

	/**
	 * Lets the fallback answer.
	 * @param target the object behind the proxy
	 * @param arguments the arguments of the call
	 * @param failure what the caller would get
	 * @return its answer
	 * @throws Throwable what it throws, or the failure itself if the fallback does not
	 * take failures of that type
	 */
	@Nullable Object invoke(@Nullable Object target, @Nullable Object[] arguments, Throwable failure) throws Throwable {
		if (this.failureType != null && !this.failureType.isInstance(failure)) {
			throw failure;
		}
		int more = (this.failureType != null) ? 1 : 0;
		Object[] all = Arrays.copyOf(arguments, arguments.length + more, Object[].class);
		if (this.failureType != null) {
			int place = this.method.getParameterCount() - (Suspending.is(this.method) ? 2 : 1);
			System.arraycopy(arguments, place, all, place + 1, arguments.length - place);
			all[place] = failure;
		}
		return AopUtils.invokeJoinpointUsingReflection(target, this.method, all);
	}

}
