package dev.llmresilience.engine;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmCallReport;
import org.jspecify.annotations.Nullable;

/**
 * Follows one call for whoever traces. Implementations must not throw.
 */
public interface CallTrace {

	/**
	 * The key under which a reactive call finds, in the Reactor context, what it is
	 * traced within, and leaves what is within it the same: that of Micrometer.
	 */
	String CONTEXT_KEY = "micrometer.observation";

	/**
	 * Makes this the trace of whatever the calling thread does, until the scope is
	 * closed, on the same thread.
	 * @return the scope
	 */
	Scope open();

	/**
	 * What stands for this trace in a Reactor context.
	 * @return a value for {@link #CONTEXT_KEY}
	 */
	Object contextValue();

	/**
	 * An attempt is over.
	 * @param kind what kind of failure it met, or {@code null} if it succeeded
	 */
	void attemptEnded(@Nullable FailureKind kind);

	/**
	 * The call is over.
	 * @param report what happened, or {@code null} if the first attempt succeeded
	 */
	void ended(@Nullable LlmCallReport report);

	/**
	 * While it is open, what the thread does belongs to the trace.
	 */
	interface Scope extends AutoCloseable {

		@Override
		void close();

	}

	/**
	 * Begins traces.
	 */
	@FunctionalInterface
	interface Tracer {

		/** Traces nothing. */
		Tracer NONE = (provider, parent) -> null;

		/**
		 * Begins to trace a call.
		 * @param provider the name of the provider entry
		 * @param parent what the call belongs to by its Reactor context, or {@code null}
		 * for what the calling thread belongs to
		 * @return the trace, or {@code null} if nothing traces
		 */
		@Nullable CallTrace begin(String provider, @Nullable Object parent);

	}

}
