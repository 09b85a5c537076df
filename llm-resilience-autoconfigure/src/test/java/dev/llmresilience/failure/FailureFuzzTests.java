package dev.llmresilience.failure;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import dev.llmresilience.LlmFailure;
import dev.llmresilience.RateLimitSnapshot;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.client.HttpClientErrorException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever a server sends, judging it does not throw and never yields a negative or
 * overflowing wait. The number of tries is set by {@code jqwik.tries.default}.
 */
class FailureFuzzTests {

	private static final List<String> HEADERS = List.of("Retry-After", "retry-after-ms", "x-ms-retry-after-ms",
			"x-should-retry", "x-amzn-errortype", "x-ratelimit-reset", "ratelimitbysize-reset");

	private static final DefaultFailureClassifier CLASSIFIER = new DefaultFailureClassifier();

	@Property(shrinking = ShrinkingMode.BOUNDED)
	void noHeaderBreaksTheHint(@ForAll("headerValues") String value) {
		Duration hint = Hints.ofHeaders((name) -> List.of(value), Failures.NOW);
		assertThat((hint != null) ? hint : Duration.ZERO).isBetween(Duration.ZERO, Durations.MAX);
	}

	@Property(shrinking = ShrinkingMode.BOUNDED)
	void noResetTimeBreaksTheHint(@ForAll("headerValues") String value) {
		Duration hint = ResetTimes.until(value, Failures.NOW);
		assertThat((hint != null) ? hint : Duration.ZERO).isBetween(Duration.ZERO, Durations.MAX);
	}

	@Property(shrinking = ShrinkingMode.BOUNDED)
	void noHeaderBreaksTheLimits(@ForAll("counts") String limit, @ForAll("counts") String remaining,
			@ForAll("headerValues") String reset, @ForAll("headerValues") String date, @ForAll ProviderType type) {
		List<RateLimitSnapshot> limits = RateLimitHeaders
			.read(type,
					(name) -> List.of(name.equals("date") ? date
							: name.contains("reset") ? reset : name.contains("limit-") ? limit : remaining),
					Failures.NOW);
		assertThat(limits).extracting(RateLimitSnapshot::dimension).doesNotHaveDuplicates();
		assertThat(limits).allSatisfy((snapshot) -> {
			assertThat(snapshot.remaining()).isBetween(0.0, snapshot.limit());
			assertThat(snapshot.reset()).isBetween(Duration.ZERO, Duration.ofDays(31));
			assertThat(snapshot.resolution()).isBetween(Duration.ofNanos(1), Duration.ofDays(1));
		});
	}

	@Property(shrinking = ShrinkingMode.BOUNDED)
	void noTextBreaksTheHint(@ForAll("texts") String text) {
		Duration hint = TextHints.find(text, Failures.NOW);
		assertThat((hint != null) ? hint : Duration.ZERO).isBetween(Duration.ZERO, Durations.MAX);
	}

	@Property(shrinking = ShrinkingMode.BOUNDED)
	void noResponseBreaksTheClassifier(@ForAll("statuses") int status, @ForAll("headerValues") String header,
			@ForAll("bodies") byte[] body, @ForAll ProviderType type) {
		HttpHeaders headers = new HttpHeaders();
		HEADERS.forEach((name) -> headers.add(name, header));
		LlmFailure failure = ResponseJudge.judge(
				new FailureFacts.Response(status, headers::getOrEmpty, ErrorBody.parse(body)), type.rules(),
				Failures.NOW);
		Duration hint = failure.hint();
		assertThat((hint != null) ? hint : Duration.ofNanos(1)).isBetween(Duration.ofNanos(1), Durations.MAX);
		String code = failure.code();
		assertThat((code != null) ? code : "none").matches("[A-Za-z0-9_.:-]{1,64}");
		assertThat(CLASSIFIER
			.classify(new HttpClientErrorException(HttpStatusCode.valueOf(status), "", headers, body, null),
					new FailureContext(type, Failures.NOW, false))
			.kind()).isEqualTo(failure.kind());
	}

	@Provide
	Arbitrary<String> counts() {
		return Arbitraries.oneOf(Arbitraries.integers().between(-1, 5).map(String::valueOf), headerValues());
	}

	@Provide
	Arbitrary<String> headerValues() {
		Arbitrary<String> numbers = Arbitraries.strings().withChars("0123456789.eE+-_ ,xf").ofMaxLength(80);
		Arbitrary<String> dates = fragments("Wed, ", "Thursday, ", "Thu ", "01 ", "31", "-Oct-", " Oct ", "Feb ", "26 ",
				"2026 ", "9999", "-1 ", "00:00:00", "23:59:60", " 99:99:99", " GMT", " UTC", " +0000", "2026-10-01",
				"9999-12-31", "T00:00:30", "T25:61:61", ".999999999", "Z", "+02:00", "-99:99", "1790812860",
				"9".repeat(20));
		return Arbitraries.oneOf(numbers, dates, Arbitraries.strings().ofMaxLength(60),
				Arbitraries.doubles().map(String::valueOf), Arbitraries.bigIntegers().map(String::valueOf));
	}

	@Provide
	Arbitrary<String> texts() {
		return fragments("Please try again in ", "retry after ", "resets in ", "regain access on ", "2026-11-01",
				"9999-99-99", " at 00:00 UTC", " at 99:99 UTC", "-", "456ms", "9m38.016s", "9".repeat(30), ".", " and ",
				" seconds", "d", "h", "\u00B5s", "Limit ", "Requested ", "per day", "resets at ", "wait ", "T00:01:00Z",
				"replenished in ", "999.99:99:99", "reset at the beginning of next month",
				"Quota exceeded for metric: x, limit: ", "0", "/ month", "\n", "\uD800");
	}

	@Provide
	Arbitrary<byte[]> bodies() {
		Arbitrary<byte[]> json = fragments("{", "}", "[", "]", ":", ",", "\"error\"", "\"code\"", "\"type\"",
				"\"message\"", "\"details\"", "\"error_code\"", "\"retryDelay\"", "\"quotaId\"", "\"retry_after\"",
				"\"metadata\"", "\"status\"", "\"resets_at\"", "\"availability\"", "\"retryable\"", "\"__type\"",
				"\"reason\"", "\"errors\"", "\"limit_source\"", "\"originalStatusCode\"",
				"\"a.b#ThrottlingException:x\"", "\"GenerateRequestsPerDay\"", "\"RESOURCE_EXHAUSTED\"",
				"1790812860000", "\"insufficient_quota\"", "\"rate_limit_error\"", "\"45.8s\"", "429", "-1e999999999",
				"1".repeat(1200), "null", "true", "\"\\u0000\"", "\"Please try again in 5s\"", "<html>", "\uFEFF", " ")
			.map((text) -> text.getBytes(StandardCharsets.UTF_8));
		return Arbitraries.oneOf(json, Arbitraries.bytes().array(byte[].class).ofMaxSize(200));
	}

	@Provide
	Arbitrary<Integer> statuses() {
		return Arbitraries.oneOf(Arbitraries.of(200, 400, 402, 413, 429, 498, 499, 500, 503, 529),
				Arbitraries.integers().between(200, 599));
	}

	private static Arbitrary<String> fragments(String... fragments) {
		return Arbitraries.of(fragments).list().ofMaxSize(25).map((parts) -> String.join("", parts));
	}

}
