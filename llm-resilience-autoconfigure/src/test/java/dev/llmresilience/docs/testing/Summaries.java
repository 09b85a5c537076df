package dev.llmresilience.docs.testing;

import dev.llmresilience.LlmRetry;

import org.springframework.stereotype.Service;

/**
 * The class that the page on testing tests.
 */
@Service
class Summaries {

	private final Model model;

	Summaries(Model model) {
		this.model = model;
	}

	@LlmRetry("anthropic")
	String summarise(String text) {
		return this.model.ask(text);
	}

}
