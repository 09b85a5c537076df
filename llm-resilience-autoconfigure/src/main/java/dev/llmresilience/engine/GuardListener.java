package dev.llmresilience.engine;

import dev.llmresilience.breaker.BreakerTransition;
import dev.llmresilience.breaker.QuotaTransition;

/**
 * Hears of every transition of the guards, on the thread that caused it. Implementations
 * must be thread-safe and quick.
 */
public interface GuardListener {

	/** Hears nothing. */
	GuardListener NONE = new GuardListener() {

		@Override
		public void onTransition(BreakerTransition transition) {
		}

		@Override
		public void onTransition(QuotaTransition transition) {
		}

		@Override
		public void onFailover(FailoverEvent event) {
		}

	};

	/**
	 * A circuit breaker changed its state.
	 * @param transition what changed
	 */
	void onTransition(BreakerTransition transition);

	/**
	 * A quota latch shut calls off, or let them pass again.
	 * @param transition what changed
	 */
	void onTransition(QuotaTransition transition);

	/**
	 * Another provider entry has taken over a call.
	 * @param event who and why
	 */
	void onFailover(FailoverEvent event);

}
