package dev.llmresilience.aop;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Method;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * A call that never gets anywhere: its bean and its arguments are all that there is.
 */
final class Invocation implements MethodInvocation {

	private final Object target;

	private final Object[] arguments;

	Invocation(Object target, Object... arguments) {
		this.target = target;
		this.arguments = arguments;
	}

	@Override
	public Object getThis() {
		return this.target;
	}

	@Override
	public Object[] getArguments() {
		return this.arguments;
	}

	@Override
	public Method getMethod() {
		throw new UnsupportedOperationException();
	}

	@Override
	public AccessibleObject getStaticPart() {
		throw new UnsupportedOperationException();
	}

	@Override
	public @Nullable Object proceed() {
		throw new UnsupportedOperationException();
	}

}
