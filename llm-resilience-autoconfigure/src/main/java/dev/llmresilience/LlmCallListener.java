package dev.llmresilience;

/**
 * Hears of each call that needed a retry, or that failed: once, when it is over. A call
 * that failed over is one under each provider entry. Calls whose first attempt succeeded
 * are only counted by the meters. To be registered as a bean; the same report is an
 * application event too.
 * <p>
 * It is told on the thread that ends the call, which the caller waits for, so it must be
 * thread-safe and quick. What it throws is logged, and changes nothing.
 */
@FunctionalInterface
public interface LlmCallListener {

	/**
	 * A call is over.
	 * @param report what happened
	 */
	void onCall(LlmCallReport report);

}
