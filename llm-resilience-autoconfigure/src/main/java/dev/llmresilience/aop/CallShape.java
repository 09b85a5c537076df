package dev.llmresilience.aop;

import java.lang.reflect.Method;

import dev.llmresilience.engine.BlockingDriver.Body;
import dev.llmresilience.engine.BlockingDriver.Fallback;
import dev.llmresilience.engine.CallPlan;
import dev.llmresilience.engine.SharedCalls;
import org.jspecify.annotations.Nullable;

/**
 * How the calls of a method go that returns a certain type: which driver makes them, and
 * what it is that an attempt returns. Thread-safe.
 */
public interface CallShape {

	/**
	 * Makes a call.
	 * @param plan the provider entries that it is made under
	 * @param key the key whose guards it is under, or {@code null}
	 * @param tokens the tokens that it is estimated to use, zero or less if unknown
	 * @param body the method: one attempt, or what begins one
	 * @param fallback answers when the call has failed for good, or {@code null}
	 * @return what the method returns to its caller
	 * @throws Throwable what it throws to its caller
	 */
	@Nullable Object call(CallPlan plan, @Nullable Object key, long tokens, Body<@Nullable Object> body,
			@Nullable Fallback<@Nullable Object> fallback) throws Throwable;

	/**
	 * Makes a call unless an equal one is under way, whose outcome it then is.
	 * @param shared knows the calls under way
	 * @param method whose call it is
	 * @param plan the provider entries that it is made under
	 * @param value equal for calls that can share
	 * @param call makes the call, as {@link #call} does
	 * @return what the method returns to its caller
	 * @throws Throwable what it throws to its caller
	 */
	@Nullable Object share(SharedCalls shared, Object method, CallPlan plan, Object value, Body<@Nullable Object> call)
			throws Throwable;

	/**
	 * Whether calls of this shape can be shared.
	 * @return whether they can
	 */
	default boolean canShare() {
		return true;
	}

	/**
	 * Knows the shapes of some types.
	 */
	@FunctionalInterface
	interface Factory {

		/**
		 * Finds the shape of a method's calls.
		 * @param method the method
		 * @return the shape, or {@code null} if it is another one's type
		 */
		@Nullable CallShape of(Method method);

	}

}
