package dev.llmresilience.aop;

import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * Gives the calls of woven methods to the advice of an application, from the moment that
 * all its beans are there until it is closed. Classes are woven once for all applications
 * of a class loader, so of several the one that started last has the calls, and after it
 * the one before.
 */
public final class WovenAdvice implements SmartInitializingSingleton, DisposableBean {

	private static final Deque<LlmRetryAspect> connected = new ConcurrentLinkedDeque<>();

	private final LlmRetryAspect advice;

	/**
	 * Creates the connection.
	 * @param advice the advice of the application
	 */
	public WovenAdvice(LlmRetryAspect advice) {
		this.advice = advice;
	}

	/**
	 * The advice that has the calls of woven methods.
	 * @return the advice, or {@code null} if no application is running
	 */
	static @Nullable LlmRetryAspect connected() {
		return connected.peekLast();
	}

	@Override
	public void afterSingletonsInstantiated() {
		connected.addLast(this.advice);
	}

	@Override
	public void destroy() {
		connected.remove(this.advice);
	}

}
