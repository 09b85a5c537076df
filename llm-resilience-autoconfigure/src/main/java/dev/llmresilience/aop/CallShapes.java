package dev.llmresilience.aop;

import java.lang.reflect.Method;
import java.util.List;

/**
 * How calls go, by what their methods return. Immutable; thread-safe.
 */
public final class CallShapes {

	private final CallShape blocking;

	private final List<CallShape.Factory> others;

	/**
	 * Creates it.
	 * @param blocking the shape of calls that return their result
	 * @param others the shapes of calls that return something else
	 */
	public CallShapes(CallShape blocking, List<CallShape.Factory> others) {
		this.blocking = blocking;
		this.others = List.copyOf(others);
	}

	CallShape of(Method method) {
		for (CallShape.Factory other : this.others) {
			CallShape shape = other.of(method);
			if (shape != null) {
				return shape;
			}
		}
		return this.blocking;
	}

	boolean isBlocking(CallShape shape) {
		return shape == this.blocking;
	}

}
