package dev.llmresilience.aop;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

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
		Class<?>[] same = method.getParameterTypes();
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
				|| (Modifier.isStatic(method.getModifiers()) && !Modifier.isStatic(candidate.getModifiers()))) {
			return null;
		}
		Class<?>[] parameters = candidate.getParameterTypes();
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
		@Nullable Object[] all = arguments;
		if (this.failureType != null) {
			if (!this.failureType.isInstance(failure)) {
				throw failure;
			}
			all = Arrays.copyOf(arguments, arguments.length + 1);
			all[arguments.length] = failure;
		}
		try {
			return this.method.invoke(target, all);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

}
