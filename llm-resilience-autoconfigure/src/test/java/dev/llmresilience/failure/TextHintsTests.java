package dev.llmresilience.failure;

import java.time.Duration;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link TextHints} and for the hints in fields of a body. It is
 * 2026-10-01T00:00:00Z.
 */
class TextHintsTests {

	@ParameterizedTest(name = "{0} -> {1} ({2})")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					Limit 10000, Used 5775, Requested 4301. Please try again in 456ms. Visit | 0.456s               | langchain4j/langchain4j#814
					Please try again in 5.289s.                                    | 5.289s               | Aider-AI/aider#3265
					Please try again in 2.961s.                                    | 2.961s               | Aider-AI/aider#3265
					Please try again in 9m38.016s                                  | 9m38.016s            | continuedev/continue#10920
					Please retry in 10h17m5.723541104s.                            | 10h17m5.723541104s   | Gemini
					Please retry in 59.44s.                                        | 59.44s               | dimetron/pi-go#177
					Please retry after 37 seconds. Please contact                  | 37s                  | Azure OpenAI
					Please retry after 45 seconds.                                 | 45s                  | icereed/paperless-gpt#814
					Try again in 22 seconds.                                       | 22s                  | Azure OpenAI
					try again in 1 minute and 30 seconds                           | 1m30s                | prose
					Try again in 2 hours                                           | 2h                   | prose
					Your quota will reset after 12h34m16s.                         | 12h34m16s            | earendil-works/pi#2851
					Monthly usage limit reached. Resets in 3 days.                 | 72h                  | earendil-works/pi#6911
					You will regain access on 2026-11-01 at 00:00 UTC.             | 744h                 | Anthropic
					You will regain access on 2026-10-02.                          | 24h                  | Anthropic
					Please wait 57321 seconds before retrying.                     | 57321s               | GitHub Models
					Please wait for about 20 seconds                               | 20s                  | prose
					Quota resets at 2026-10-01T00:01:30Z                           | 90s                  | Code Assist
					It will reset on 2026-10-01 at 06:30 UTC                       | 6h30m                | prose
					Try again after 2026-10-01 00:00:30                            | 30s                  | no zone is UTC
					Quota will be replenished in 12:34:56.                         | 12h34m56s            | API Management
					Quota will be replenished in 2.12:34:56.                       | 60h34m56s            | API Management
					Your limit will reset at the beginning of next month.          | 744h                 | Cohere
					It will be available again in 5 minutes                        | 5m                   | prose
					Retry after: 30 seconds                                        | 30s                  | prose
					resets in 2 days 4 hours                                       | 52h                  | prose
					Please retry in 2s. Please retry in 5s.                        | 5s                   | the larger of several
					try again in 99999999999999999999d                             | 87600h               | cut instead of overflowing
					""")
	void proseTellsTheWait(String text, String expected, String source) {
		assertThat(TextHints.find(text, Failures.NOW)).as(source).isEqualTo(Duration.parse("PT" + expected));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "Please try again later.", "Please retry shortly", "try again in 20", "in 456ms",
			"try again in -5s", "Try again at 2026-99-99T00:00:00Z", "waited 30 seconds",
			"available from the start of next month", "replenished in 1:2:3", "timed out after 600 seconds",
			"try again in 5 sunsets", "regain access on 2026-13-45 at 00:00 UTC",
			"regain access on 2026-11-01 at 99:99 UTC x", "You will regain access on 2025-07-01 at 00:00 UTC." })
	void proseWithoutAReadableFutureWaitIsNoHint(String text) {
		assertThat(TextHints.find(text, Failures.NOW)).isNull();
	}

	@ParameterizedTest(name = "{0} {1} -> {2} ({3})")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					                  | {"error":{"code":429,"details":[{"retryDelay":"38s"}]}}                     | 38s            | letterstory/lettertrace#34
					                  | {"error":{"code":429,"details":[{"retryDelay":"45.837906927s"}]}}           | 45.837906927s  | dcdpr/jp#1061
					                  | [{"error":{"code":429,"details":[{"retryDelay":"2.463586755s"}]}}]          | 2.463586755s   | Gemini, streaming
					                  | {"error":{"details":[{"metadata":{"quotaResetDelay":"373.801628ms"}}]}}     | 0.373801628s   | Code Assist
					                  | {"error":{"message":"slow","retry_after":30}}                               | 30s            | BerriAI/litellm#7669
					                  | {"error":{"availability":{"retryable":true,"retry_after":40}}}              | 40s RETRY      | OpenRouter
					                  | {"error":{"message":"Please retry in 59.44s.","details":[{"retryDelay":"59s"}]}} | 59.44s    | the larger of field and text
					                  | Rate limit exceeded, try again in 5s                                        | 5s             | plain text
					Retry-After: 45   | {"error":{"message":"Please retry after 45 seconds."}}                      | 45s            | icereed/paperless-gpt#814
					Retry-After: 2    | {"error":{"message":"Please retry after 37 seconds."}}                      | 37s            | the larger of header and text
					Retry-After: 60   | {"error":{"message":"Please retry after 37 seconds."}}                      | 1m             | the larger of header and text
					""")
	void aBodyTellsTheWaitWhereHeadersDoNotOrTellLess(String headers, String body, String expected, String source) {
		assertThat(Failures.judge(Failures.response(429, headers, body))).as(source)
			.isEqualTo("RATE_LIMITED after " + expected);
	}

}
