package dev.llmresilience.engine;

import dev.llmresilience.LlmCall;
import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;

/**
 * Lets Micrometer's context propagation, and with it Reactor's, carry the current call
 * from thread to thread. Found by {@link java.util.ServiceLoader}. Thread-safe.
 */
public final class LlmCallAccessor implements ThreadLocalAccessor<LlmCall> {

	@Override
	public Object key() {
		return LlmCall.CONTEXT_KEY;
	}

	@Override
	public @Nullable LlmCall getValue() {
		return LlmCall.current();
	}

	@Override
	public void setValue(LlmCall value) {
		Call.restore(value);
	}

	@Override
	public void setValue() {
		Call.restore(null);
	}

}
