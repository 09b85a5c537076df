package dev.llmresilience.failure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Tests for {@link RateLimitHeaders}. Our clock says 2026-10-01T00:00:00Z. A snapshot is
 * described as {@code DIMENSION remaining/limit reset ~resolution}.
 */
class RateLimitHeadersTests {

	private static final String ANTHROPIC = """
			anthropic-ratelimit-requests-limit: 1000; anthropic-ratelimit-requests-remaining: 847;
			anthropic-ratelimit-requests-reset: 2026-10-01T00:01:00Z;
			anthropic-ratelimit-tokens-limit: 90000; anthropic-ratelimit-tokens-remaining: 81000;
			anthropic-ratelimit-tokens-reset: 2026-10-01T00:00:06Z;
			anthropic-ratelimit-input-tokens-limit: 80000; anthropic-ratelimit-input-tokens-remaining: 80000;
			anthropic-ratelimit-input-tokens-reset: 2026-10-01T00:00:00Z;
			anthropic-ratelimit-output-tokens-limit: 10000; anthropic-ratelimit-output-tokens-remaining: 1000;
			anthropic-ratelimit-output-tokens-reset: 2026-10-01T00:00:54Z""";

	private static final String OPENAI = """
			x-ratelimit-limit-requests: 5000; x-ratelimit-remaining-requests: 4999; x-ratelimit-reset-requests: 12ms;
			x-ratelimit-limit-tokens: 160000; x-ratelimit-remaining-tokens: 159976; x-ratelimit-reset-tokens: 9ms""";

	@ParameterizedTest(name = "{0}: {3}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					OPENAI       | x-ratelimit-limit-requests: 60; x-ratelimit-remaining-requests: 59; x-ratelimit-reset-requests: 1s                                 | REQUESTS 59/60 1s ~1s                   | OpenAI
					OPENAI       | x-ratelimit-limit-tokens: 150000; x-ratelimit-remaining-tokens: 149984; x-ratelimit-reset-tokens: 6m0s                            | TOKENS 149984/150000 6m ~1s             | OpenAI
					OPENAI       | x-ratelimit-limit-tokens: 30000; x-ratelimit-remaining-tokens: 25000; x-ratelimit-reset-tokens: 7.66s                              | TOKENS 25000/30000 7.66s ~0.01s         | OpenAI
					OPENAI       | x-ratelimit-limit-requests: 10000; x-ratelimit-remaining-requests: 500; x-ratelimit-reset-requests: 1h2m3s                         | REQUESTS 500/10000 1h2m3s ~1s           | OpenAI
					OPENAI       | x-ratelimit-limit-tokens_usage_based: 160000; x-ratelimit-remaining-tokens_usage_based: 159976; x-ratelimit-reset-tokens_usage_based: 9ms | TOKENS 159976/160000 0.009s ~0.001s | OpenAI, older accounts
					AZURE_OPENAI | x-ratelimit-limit-tokens: 30000; x-ratelimit-remaining-tokens: 18000; x-ratelimit-reset-tokens: 27                                 | TOKENS 18000/30000 27s ~1s              | Azure OpenAI, plain seconds
					AZURE_OPENAI | x-ratelimit-limit-requests: 30; x-ratelimit-remaining-requests: 30; x-ratelimit-reset-requests: 0                                   | REQUESTS 30/30 0s ~1s                   | Azure OpenAI, nothing used
					GROQ         | x-ratelimit-limit-requests: 14400; x-ratelimit-remaining-requests: 14370; x-ratelimit-reset-requests: 2m59.56s                     | REQUESTS 14370/14400 2m59.56s ~0.01s    | Groq counts requests per day
					GROQ         | x-ratelimit-limit-tokens: 18000; x-ratelimit-remaining-tokens: 15706; x-ratelimit-reset-tokens: 7.646666666s                       | TOKENS 15706/18000 7.646666666s ~0.000000001s | Groq counts tokens per minute
					XAI          | x-ratelimit-limit-requests: 480; x-ratelimit-remaining-requests: 479; x-ratelimit-reset-requests: 500ms                            | REQUESTS 479/480 0.5s ~0.001s           | OpenAI's names
					MISTRAL      | ratelimitbysize-limit: 500000; ratelimitbysize-remaining: 330000; ratelimitbysize-query-cost: 32000; ratelimitbysize-reset: 13     | TOKENS 330000/500000 13s ~1s            | Mistral's edge
					MISTRAL      | x-ratelimitbysize-limit-minute: 500000; x-ratelimitbysize-remaining-minute: 330000; x-ratelimitbysize-limit-month: 1000000000; x-ratelimitbysize-remaining-month: 5 | ` ` | Mistral, no reset
					OPENROUTER   | X-RateLimit-Limit: 20; X-RateLimit-Remaining: 0; X-RateLimit-Reset: 1790812860000                                                  | REQUESTS 0/20 1m ~1s                    | OpenRouter, milliseconds since 1970
					OPENROUTER   | X-RateLimit-Limit: 20; X-RateLimit-Remaining: 0; X-RateLimit-Reset: 1790812860250                                                  | REQUESTS 0/20 1m0.25s ~0.01s            | OpenRouter, milliseconds since 1970
					GENERIC      | X-RateLimit-Limit: 100; X-RateLimit-Remaining: 40; X-RateLimit-Reset: 1790812860                                                   | REQUESTS 40/100 1m ~1s                  | seconds since 1970
					GENERIC      | x-ratelimit-limit: 1000, 1000;w=1, 60000;w=60; x-ratelimit-remaining: 998; x-ratelimit-reset: 1                                    | REQUESTS 998/1000 1s ~1s                | sterlp/eclipse-peon-ai#86, the limit in force first
					GENERIC      | x-ratelimit-limit: 60000;w=60; x-ratelimit-remaining: 998; x-ratelimit-reset: 1                                                    | ` `                                     | policies alone do not say which is in force
					GENERIC      | x-ratelimit-limit: 1000, 60000; x-ratelimit-remaining: 998; x-ratelimit-reset: 1                                                   | ` `                                     | two limits
					""")
	void readsTheFormsOfEachProvider(ProviderType type, String headers, String expected, String source) {
		assertThat(read(type, headers.replace(";w=", "%w="))).as(source).isEqualTo(expected.strip());
	}

	@Test
	void readsAllDimensionsOfAnthropic() {
		assertThat(read(ProviderType.ANTHROPIC, ANTHROPIC)).isEqualTo("REQUESTS 847/1000 1m ~1s, "
				+ "TOKENS 81000/90000 6s ~1s, INPUT_TOKENS 80000/80000 0s ~1s, OUTPUT_TOKENS 1000/10000 54s ~1s");
	}

	@Test
	void readsBothDimensionsOfOpenAi() {
		assertThat(read(ProviderType.OPENAI, OPENAI))
			.isEqualTo("REQUESTS 4999/5000 0.012s ~0.001s, TOKENS 159976/160000 0.009s ~0.001s");
	}

	@ParameterizedTest
	@EnumSource(names = { "GOOGLE", "BEDROCK", "COHERE", "DEEPSEEK", "OLLAMA", "MISTRAL", "OPENROUTER" })
	void readsNoFamilyThatTheProviderDoesNotSend(ProviderType type) {
		assertThat(read(type, ANTHROPIC + ";" + OPENAI)).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(names = { "OPENAI", "AZURE_OPENAI", "GROQ", "XAI" })
	void doesNotTakeAnthropicsForOpenAis(ProviderType type) {
		assertThat(read(type, ANTHROPIC)).isEmpty();
		assertThat(read(ProviderType.ANTHROPIC, OPENAI)).isEmpty();
	}

	@Test
	void anUnknownProviderMayImitateAnybodyButEachDimensionCountsOnce() {
		assertThat(read(ProviderType.GENERIC, OPENAI)).isEqualTo(read(ProviderType.OPENAI, OPENAI));
		assertThat(read(ProviderType.GENERIC, ANTHROPIC)).isEqualTo(read(ProviderType.ANTHROPIC, ANTHROPIC));
		assertThat(read(ProviderType.GENERIC, ANTHROPIC + ";" + OPENAI))
			.isEqualTo(read(ProviderType.ANTHROPIC, ANTHROPIC));
	}

	@Test
	void theLimitOnTokensCountsBeforeItsTwinOfOlderAccounts() {
		String twin = "x-ratelimit-limit-tokens_usage_based: 90; x-ratelimit-remaining-tokens_usage_based: 1;"
				+ "x-ratelimit-reset-tokens_usage_based: 9s";
		assertThat(read(ProviderType.OPENAI, twin)).isEqualTo("TOKENS 1/90 9s ~1s");
		assertThat(read(ProviderType.OPENAI, OPENAI + ";" + twin)).isEqualTo(read(ProviderType.OPENAI, OPENAI));
	}

	/** openai/openai-dotnet#838: no limit is neither an unlimited nor an empty one. */
	@Test
	void ignoresAzuresSentinelsButNotTheOtherDimension() {
		assertThat(read(ProviderType.AZURE_OPENAI, """
				x-ratelimit-limit-tokens: -1; x-ratelimit-remaining-tokens: -1; x-ratelimit-reset-tokens: 0;
				x-ratelimit-limit-requests: 30; x-ratelimit-remaining-requests: 29; x-ratelimit-reset-requests: 2"""))
			.isEqualTo("REQUESTS 29/30 2s ~1s");
	}

	/** BaseIntelligence/bounty-challenge#10752, CortexLM/cortex-code#407. */
	@ParameterizedTest(name = "{0} -> {1}")
	@CsvSource({ "6m0s, 6m", "1s, 1s", "60s, 1m", "1m30s, 1m30s", "2m30.5s, 2m30.5s", "500ms, 0.5s", "27, 27s",
			"2026-10-01T00:01:00Z, 1m", "2026-10-01T02:01:00+02:00, 1m", "1790812860, 1m", "744h, 744h" })
	void readsEveryFormOfAReset(String reset, String expected) {
		assertThat(withReset(reset)).startsWith("REQUESTS 9/10 " + expected + " ~");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "soon", "-1", "-5s", "NaN", "Infinity", "0", "0s", "1705312200",
			"2024-01-15T10:30:00Z", "2026-13-01T00:00:00Z", "745h", "9999999999", "9999-12-31T23:59:59Z", "1,5" })
	void aResetThatCannotBeIsNone(String reset) {
		assertThat(withReset(reset)).isEmpty();
	}

	@ParameterizedTest(name = "{0} of {1}")
	@CsvSource({ "-1, -1", "-1, 10", "11, 10", "0, 0", "0, -5", "x, 10", "9, x", "'', 10", "9, ''", "0x1, 10",
			"9.5, 10", "9, 1e3", "9, 9999999999999999999999", "٣, 10" })
	void countsThatCannotBeAreNone(String remaining, String limit) {
		assertThat(read(ProviderType.OPENAI, "x-ratelimit-limit-requests:" + limit + "; x-ratelimit-remaining-requests:"
				+ remaining + "; x-ratelimit-reset-requests: 1s"))
			.isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "x-ratelimit-limit-requests: 10", "x-ratelimit-remaining-requests: 9",
			"x-ratelimit-reset-requests: 1s" })
	void aDimensionOfWhichAPartIsMissingIsIgnored(String part) {
		String all = "x-ratelimit-limit-requests: 10; x-ratelimit-remaining-requests: 9; x-ratelimit-reset-requests: 1s";
		assertThat(read(ProviderType.OPENAI, all)).isNotEmpty();
		assertThat(read(ProviderType.OPENAI, all.replace(part, "x-other: 1"))).isEmpty();
	}

	@Test
	void aHeaderWithTwoValuesContradictsItself() {
		assertThat(read(ProviderType.OPENAI, OPENAI + "; x-ratelimit-limit-requests: 5000"))
			.isEqualTo("TOKENS 159976/160000 0.009s ~0.001s");
	}

	@ParameterizedTest(name = "sent {0} -> {1}")
	@CsvSource(delimiter = '|', textBlock = """
			Wed, 30 Sep 2026 23:00:30 GMT    | REQUESTS 9/10 1h30s ~2s
			Thu, 01 Oct 2026 00:00:58 GMT    | REQUESTS 9/10 2s ~2s
			Thursday, 01-Oct-26 00:00:58 GMT | REQUESTS 9/10 2s ~2s
			Thu, 01 Oct 2026 00:01:00 GMT    | ''
			Fri, 02 Oct 2026 00:00:00 GMT    | ''
			Mon, 01 Jan 2024 00:00:00 GMT    | ''
			no date                          | REQUESTS 9/10 1m ~1s
			""")
	void anInstantIsReadOffTheServersClock(String date, String expected) {
		assertThat(read(ProviderType.ANTHROPIC,
				"anthropic-ratelimit-requests-limit: 10; anthropic-ratelimit-requests-remaining: 9;"
						+ "anthropic-ratelimit-requests-reset: 2026-10-01T00:01:00Z; Date: " + date))
			.isEqualTo(expected);
	}

	@Test
	void aFullBucketMayHaveBeenFullForLong() {
		assertThat(read(ProviderType.ANTHROPIC,
				"anthropic-ratelimit-requests-limit: 10; anthropic-ratelimit-requests-remaining: 10;"
						+ "anthropic-ratelimit-requests-reset: 2026-09-30T23:58:00Z"))
			.isEqualTo("REQUESTS 10/10 0s ~1s");
	}

	@ParameterizedTest
	@EnumSource
	void aResponseWithoutSuchHeadersCostsAFewLookUps(ProviderType type) {
		AtomicInteger lookUps = new AtomicInteger();
		assertThat(RateLimitHeaders.read(type, (name) -> {
			lookUps.incrementAndGet();
			return List.of();
		}, Failures.NOW)).isEmpty();
		assertThat(lookUps).hasValueLessThanOrEqualTo((type == ProviderType.GENERIC) ? 8 : 4);
	}

	@Test
	void aFailureSaysWhatItsResponseSaid() {
		LlmFailure failure = Failures.classify(Failures.response(429, OPENAI.replace("4999", "0"), ""),
				ProviderType.OPENAI);
		assertThat(failure.kind()).isEqualTo(FailureKind.RATE_LIMITED);
		assertThat(failure.limits()).extracting(RateLimitSnapshot::dimension, RateLimitSnapshot::remaining)
			.containsExactly(tuple(Dimension.REQUESTS, 0.0), tuple(Dimension.TOKENS, 159976.0));
		assertThat(failure.withStatus(500).withCode("x").limits()).isEqualTo(failure.limits());
	}

	@Test
	void anErrorInsideASuccessSaysNothingOfLimits() {
		assertThat(Failures.classify(Failures.response(200, OPENAI, "{\"error\":{\"code\":429}}"), ProviderType.OPENAI)
			.limits()).isEmpty();
	}

	private static String withReset(String reset) {
		return read(ProviderType.OPENAI,
				"x-ratelimit-limit-requests: 10; x-ratelimit-remaining-requests: 9; x-ratelimit-reset-requests: "
						+ reset);
	}

	private static String read(ProviderType type, String headers) {
		return RateLimitHeaders.read(type, headers(headers), Failures.NOW)
			.stream()
			.map(RateLimitHeadersTests::describe)
			.collect(Collectors.joining(", "));
	}

	private static String describe(RateLimitSnapshot snapshot) {
		return "%s %.0f/%.0f %s ~%s".formatted(snapshot.dimension(), snapshot.remaining(), snapshot.limit(),
				describe(snapshot.reset()), describe(snapshot.resolution()));
	}

	private static String describe(Duration duration) {
		return duration.toString().substring(2).toLowerCase(Locale.ROOT);
	}

	private static Function<String, List<String>> headers(String headers) {
		Map<String, List<String>> values = new LinkedHashMap<>();
		for (String header : StringUtils.tokenizeToStringArray(headers, ";")) {
			int colon = header.indexOf(':');
			values
				.computeIfAbsent(header.substring(0, colon).strip().toLowerCase(Locale.ROOT),
						(name) -> new ArrayList<>())
				.add(header.substring(colon + 1).strip().replace('%', ';'));
		}
		return (name) -> values.getOrDefault(name, List.of());
	}

}
