package dev.llmresilience.sample.monitoring;

import java.util.Map;
import java.util.Set;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The check of queries must find what it is for.
 */
class PromQlTests {

	private static final Map<String, Set<String>> LABELS = Map.of("calls_count", Set.of("provider", "outcome"), "up",
			Set.of("provider"));

	private static final Map<String, Set<String>> VALUES = Map.of("outcome", Set.of("SUCCESS", "BREAKER"));

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			up > 0                                                                 | []
			sum by (provider) (rate(calls_count{outcome="SUCCESS"}[5m])) and up    | []
			1 * calls_count{outcome=~"SUCCESS.BREAKER"} or up                      | [outcome is never SUCCESS.BREAKER]
			rate(call_count[5m])                                                   | [no metric call_count]
			up{outcome="SUCCESS"}                                                  | [up has no label outcome]
			sum by (provider, outcome) (rate(calls_count[5m]) / (1 + up))          | [up cannot be grouped by outcome]
			sum by (outcome) (calls_count) / sum by (provider) (up)                | []
			1 + 1                                                                  | [no metric at all]
			""")
	void names_that_nothing_answers_to_are_found(String query, String problems) {
		assertThat(new PromQl(query).problems(LABELS, VALUES)).hasToString(problems);
	}

}
