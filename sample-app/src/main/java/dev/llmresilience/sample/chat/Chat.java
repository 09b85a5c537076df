package dev.llmresilience.sample.chat;

import dev.llmresilience.sample.Upstream;

/**
 * Answers questions with the model of one provider.
 */
public interface Chat {

	/**
	 * Whom it calls.
	 * @return the provider
	 */
	Upstream upstream();

	/**
	 * Asks the model.
	 * @param prompt the question
	 * @return the answer
	 */
	String ask(String prompt);

	/**
	 * Opens a connection to the embedded provider, past all guards and limits.
	 */
	void warmUp();

}
