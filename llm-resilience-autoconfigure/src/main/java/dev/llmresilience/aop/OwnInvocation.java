package dev.llmresilience.aop;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.function.Supplier;

import dev.llmresilience.engine.BlockingDriver.Body;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;

/**
 * What the calling thread is doing on behalf of a call: an attempt, a fallback, or an
 * expression that reads the bean. A woven method that is part of that is no call of its
 * own; whatever it calls is, itself included. Immutable.
 */
final class OwnInvocation {

	/** The beginning of the name of each field that AspectJ adds to a class. */
	private static final String WOVEN_FIELD = "ajc$";

	/** Nobody asks where nothing is woven, so that is where nobody says. */
	private static final ClassValue<Boolean> woven = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return hasWovenField(type);
		}

	};

	private static final ThreadLocal<@Nullable OwnInvocation> current = new ThreadLocal<>();

	private final @Nullable Object target;

	/** {@code null} for any. */
	private final @Nullable Method method;

	/** Whether the method has begun: to meet it now is to be called from within. */
	private final boolean begun;

	private OwnInvocation(@Nullable Object target, @Nullable Method method, boolean begun) {
		this.target = target;
		this.method = method;
		this.begun = begun;
	}

	/**
	 * Whether a weaver has been at a class, or at what it inherits from; with what aspect
	 * cannot be told.
	 * @param type the class
	 * @return whether it is woven
	 */
	static boolean isWoven(Class<?> type) {
		return woven.get(type);
	}

	private static boolean hasWovenField(Class<?> type) {
		for (Class<?> t = type; t != null; t = t.getSuperclass()) {
			if (declaresWovenField(t)) {
				return true;
			}
		}
		return ClassUtils.getAllInterfacesForClassAsSet(type).stream().anyMatch(OwnInvocation::declaresWovenField);
	}

	private static boolean declaresWovenField(Class<?> type) {
		for (Field field : type.getDeclaredFields()) {
			if (field.getName().startsWith(WOVEN_FIELD)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Says what a body invokes, if that may be woven.
	 * @param target the object
	 * @param method its method
	 * @param body invokes it
	 * @return does the same
	 */
	static Body<@Nullable Object> of(@Nullable Object target, Method method, Body<@Nullable Object> body) {
		return (target != null && isWoven(target.getClass())) ? () -> run(target, method, false, body) : body;
	}

	/**
	 * Invokes a method.
	 * @param target the object
	 * @param method its method
	 * @param begun whether the body is what the method consists of
	 * @param body invokes it
	 * @return what it returned
	 * @throws Throwable what it threw
	 */
	static @Nullable Object run(@Nullable Object target, Method method, boolean begun, Body<@Nullable Object> body)
			throws Throwable {
		OwnInvocation before = current.get();
		current.set(new OwnInvocation(target, method, begun));
		try {
			return body.run();
		}
		finally {
			current.set(before);
		}
	}

	/**
	 * Reads an object, by whatever methods that takes.
	 * @param target the object
	 * @param read reads it
	 * @return what was read
	 */
	static @Nullable Object read(@Nullable Object target, Supplier<@Nullable Object> read) {
		if (target == null || !isWoven(target.getClass())) {
			return read.get();
		}
		OwnInvocation before = current.get();
		current.set(new OwnInvocation(target, null, false));
		try {
			return read.get();
		}
		finally {
			current.set(before);
		}
	}

	/**
	 * Whether a woven method that is about to run is part of what the calling thread is
	 * doing.
	 * @param invocation the woven method
	 * @return whether it is no call of its own
	 */
	static boolean includes(MethodInvocation invocation) {
		OwnInvocation own = current.get();
		Object target = invocation.getThis();
		if (own == null || target == null || own.target != target) {
			return false;
		}
		Method called = invocation.getMethod();
		if (own.method == null) {
			return true;
		}
		if (own.method.equals(called)) {
			return !own.begun;
		}
		// The method that overrides it calls its super method.
		return own.method.equals(AopUtils.getMostSpecificMethod(called, ClassUtils.getUserClass(target)));
	}

}
