package dev.llmresilience.tools;

import dev.langchain4j.agent.tool.Tool;

/**
 * The code that the page on tools shows for LangChain4j, so that it compiles.
 */
class LangChain4jPageExamples {

	private final RateService rates;

	LangChain4jPageExamples(RateService rates) {
		this.rates = rates;
	}

	@Tool(value = "The exchange rate of a currency", metadata = "{\"readOnlyHint\": true}")
	double rate(String currency) {
		return this.rates.of(currency);
	}

	interface RateService {

		double of(String currency);

	}

}
