package dev.llmresilience.failure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the hints that {@link Hints} reads from headers. It is 2026-10-01T00:00:00Z.
 */
class RetryAfterTests {

	private static final String RATE_LIMIT = """
			{"type":"error","error":{"type":"rate_limit_error","message":"Number of requests has exceeded your rate limit"}}""";

	@ParameterizedTest(name = "{0} -> {1} ({2})")
	@CsvSource(delimiter = '|',
			textBlock = """
					Retry-After: 2                                    | 2s             | RFC 9110
					Retry-After: 90                                   | 1m30s          | openai/openai-python#3555
					Retry-After: 600                                  | 10m            | openai/openai-node#1907
					Retry-After: 86400                                | 24h            | Azure/azure-sdk-for-java#42696
					Retry-After: 45                                   | 45s            | kieranklaassen/compound-cli#19
					Retry-After: 171                                  | 2m51s          | NousResearch/hermes-agent#35955
					Retry-After: 4236                                 | 1h10m36s       | anthony-chaudhary/fak#2258
					Retry-After: 1.234                                | 1.234s         | fraction, as the Stainless SDKs accept it
					Retry-After: .5                                   | 0.5s           | fraction without a leading digit
					Retry-After: 1e2                                  | 1m40s          | exponent, as the Stainless SDKs accept it
					Retry-After: 0.0000000001                         | 0.000000001s   | rounded up, never down
					Retry-After: 99999999999                          | 87600h         | cut to ten years instead of overflowing
					Retry-After: 1e40                                 | 87600h         | cut to ten years instead of overflowing
					retry-after:2                                     | 2s             | lower case, no space
					Retry-After:      2                               | 2s             | white space around
					Retry-After: Thu, 01 Oct 2026 00:00:05 GMT        | 5s             | openai/openai-java 0dff2053
					Retry-After: thu, 01 oct 2026 00:01:00 gmt        | 1m             | names of any case
					Retry-After: 01 Oct 2026 00:01:00 GMT             | 1m             | weekday left out
					Retry-After: Thursday, 01-Oct-26 00:01:00 GMT     | 1m             | RFC 850
					Retry-After: Thu Oct  1 00:01:00 2026             | 1m             | asctime
					Retry-After: Fri, 01 Oct 9999 00:00:00 GMT        | 87600h         | cut to ten years instead of overflowing
					retry-after-ms: 50                                | 0.05s          | Azure OpenAI
					retry-after-ms: 1200.5                            | 1.2005s        | fraction
					x-ms-retry-after-ms: 1500                         | 1.5s           | microsoft/kernel-memory#795
					retry-after-ms: 1200; Retry-After: 2              | 1.2s           | milliseconds replace their seconds
					retry-after-ms: abc; Retry-After: 2               | 2s             | unless they cannot be read
					retry-after-ms: -1; Retry-After: 2                | 2s             | or are negative
					retry-after-ms: 0; Retry-After: 2                 | 2s             | or set no floor
					retry-after-ms: 1200; x-ms-retry-after-ms: 1500   | 1.5s           | the larger of several
					Retry-After: 7; Retry-After: 2                    | 7s             | the larger of several
					""")
	void aHeaderThatCanBeReadIsAHint(String headers, String expected, String source) {
		assertThat(Failures.judge(Failures.response(429, headers, RATE_LIMIT))).as(source)
			.isEqualTo("RATE_LIMITED after " + expected);
	}

	@ParameterizedTest(name = "{0} ({1})")
	@CsvSource(delimiter = '|',
			textBlock = """
					Retry-After: -5                                   | NousResearch/hermes-agent#84738
					Retry-After: -100                                 | ebarti/JobCtrl#231
					Retry-After: nan                                  | ebarti/JobCtrl#231
					Retry-After: NaN                                  | ebarti/JobCtrl#231
					Retry-After: Infinity                             | ebarti/JobCtrl#231
					Retry-After: 0                                    | AThevon/TokenEater#161
					Retry-After: 0.0                                  | no floor
					Retry-After: 0e999                                | no floor
					Retry-After: 5f                                   | Java's own suffix
					Retry-After: 0x1p3                                | Java's own hexadecimal
					Retry-After: 1,1                                  | decimal comma
					Retry-After: 2 seconds                            | singer-io/tap-shopify#35
					Retry-After: soon                                 | a word
					Retry-After:                                      | empty
					Retry-After: ٣                                    | other digits
					Retry-After: Thu, 99 Oct 2026 99:00:00 GMT        | earendil-works/pi#9571
					Retry-After: Wed, 21 Oct 2015 07:28:00 GMT        | NousResearch/hermes-agent#84738
					Retry-After: Wed, 21 Oct 15 07:28:00 GMT          | two-digit year
					Retry-After: Tue, 21 Oct 2015 07:28:00 GMT        | wrong weekday, past
					Retry-After: Wed, 21 Oct 2015 07:28:00 UTC        | wrong zone, past
					Retry-After: Fri, 01 Oct 2026 00:01:00 GMT        | wrong weekday, future
					Retry-After: Thu, 01 Oct 2026 00:00:00 GMT        | now
					Retry-After: 2026-10-01T00:01:00Z                 | no HTTP date
					retry-after-ms: abc                               | a word
					x-ms-retry-after-ms: -1                           | negative
					x-ratelimit-limit-tokens: -1; x-ratelimit-remaining-tokens: -1; x-ratelimit-reset-tokens: 0 | openai/openai-dotnet#838
					x-ratelimit-reset-requests: 6m0s                  | until the bucket is full, not until the next call fits
					""")
	void aHeaderThatSetsNoFloorIsNoHint(String headers, String source) {
		assertThat(Failures.judge(Failures.response(429, headers, RATE_LIMIT))).as(source).isEqualTo("RATE_LIMITED");
	}

	@Test
	void aZeroHintStillSaysThatTheLimitPasses() {
		assertThat(Failures.judge(Failures.response(429, "Retry-After: 0", null))).isEqualTo("RATE_LIMITED");
	}

}
