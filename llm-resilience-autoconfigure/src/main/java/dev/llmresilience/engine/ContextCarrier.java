package dev.llmresilience.engine;

import java.util.function.UnaryOperator;

/**
 * Carries the context of a caller, such as its logging and tracing context, to the
 * threads on which its call goes on. Implementations are thread-safe.
 */
@FunctionalInterface
public interface ContextCarrier {

	/** Carries nothing. */
	ContextCarrier NONE = UnaryOperator::identity;

	/**
	 * Captures the context of the calling thread.
	 * @return makes a task run in that context
	 */
	UnaryOperator<Runnable> capture();

}
