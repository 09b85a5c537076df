package dev.llmresilience.failure;

import java.time.Duration;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ResetTimes}. It is 2026-10-01T00:00:00Z.
 */
class ResetTimesTests {

	@ParameterizedTest(name = "{0} -> {1} ({2})")
	@CsvSource(delimiter = '|', textBlock = """
			6m0s                          | 6m             | BaseIntelligence/bounty-challenge#10752
			1s                            | 1s             | BaseIntelligence/bounty-challenge#10752
			60s                           | 1m             | BaseIntelligence/bounty-challenge#10752
			1m30s                         | 1m30s          | BaseIntelligence/bounty-challenge#10752
			2m30.5s                       | 2m30.5s        | BaseIntelligence/bounty-challenge#10752
			500ms                         | 0.5s           | BaseIntelligence/bounty-challenge#10752
			7.66s                         | 7.66s          | OpenAI
			2m59.56s                      | 2m59.56s       | Groq
			1h2m3s                        | 1h2m3s         | OpenAI
			27                            | 27s            | Azure OpenAI
			27.0000000001                 | 27.000000001s  | rounded up, never down
			0                             | 0s             | Azure OpenAI
			2026-10-01T00:01:00Z          | 1m             | Anthropic
			2026-10-01T00:01:00.25Z       | 1m0.25s        | fractions
			2026-10-01T02:01:00+02:00     | 1m             | an offset
			2026-10-01 00:01:00 UTC       | 1m             | a space and a zone
			2026-10-01T00:01:00           | 1m             | no zone is UTC
			2026-10-02                    | 24h            | a date
			1790812860                    | 1m             | seconds since 1970
			1790812860.5                  | 1m0.5s         | fractions
			1790812860000                 | 1m             | milliseconds since 1970
			1790812860000000              | 1m             | microseconds since 1970
			1790812860000000000           | 1m             | nanoseconds since 1970
			9999999999                    | 87600h         | cut to ten years
			99999999999999999999          | 87600h         | cut instead of overflowing
			9999-12-31T23:59:59Z          | 87600h         | cut to ten years
			""")
	void readsEveryForm(String value, String expected, String source) {
		assertThat(ResetTimes.until(value, Failures.NOW)).as(source).isEqualTo(Duration.parse("PT" + expected));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "soon", "-1", "-5s", "NaN", "1705312200", "2024-01-15T10:30:00Z",
			"2026-13-01T00:00:00Z", "2026-10-01T25:00:00Z", "2026-10-01T00:01:00+99:00", "0x10", "1,5", "12 parsecs" })
	void whatIsPastOrCannotBeReadIsNothing(String value) {
		assertThat(ResetTimes.until(value, Failures.NOW)).isNull();
	}

	@ParameterizedTest
	@CsvSource({ "1705312200, 2024-01-15T09:50:00Z", "2024-01-15T10:30:00Z, 2024-01-15T10:30:00Z" })
	void aPastInstantIsAnInstantAllTheSame(String value, String expected) {
		assertThat(ResetTimes.instant(value)).hasToString(expected);
	}

}
