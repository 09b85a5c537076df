package dev.llmresilience.benchmarks;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

import dev.llmresilience.LlmFailure;
import dev.llmresilience.failure.DefaultFailureClassifier;
import dev.llmresilience.failure.FailureContext;
import dev.llmresilience.failure.ProviderType;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.client.HttpClientErrorException;

/**
 * What it costs to judge a typical failure: Anthropic's 429 as Spring's RestClient throws
 * it, with its headers and body.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class ClassificationBenchmark {

	private static final String BODY = "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":"
			+ "\"This request would exceed your account's rate limit. Please try again later.\"},"
			+ "\"request_id\":\"req_011CSHoEeqs5C35K2UUqR7Fy\"}";

	private final DefaultFailureClassifier classifier = new DefaultFailureClassifier();

	private final FailureContext context = new FailureContext(ProviderType.ANTHROPIC,
			Instant.parse("2026-10-01T00:00:00Z"), false);

	private final HttpClientErrorException rateLimited = rateLimited();

	private static HttpClientErrorException rateLimited() {
		HttpHeaders headers = new HttpHeaders();
		headers.set("retry-after", "7");
		headers.set("anthropic-ratelimit-requests-limit", "1000");
		headers.set("anthropic-ratelimit-requests-remaining", "0");
		headers.set("anthropic-ratelimit-requests-reset", "2026-10-01T00:00:07Z");
		headers.set("content-type", "application/json");
		headers.set("request-id", "req_011CSHoEeqs5C35K2UUqR7Fy");
		return HttpClientErrorException.create(HttpStatusCode.valueOf(429), "Too Many Requests", headers,
				BODY.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
	}

	/**
	 * Judges the failure.
	 * @return what it is
	 */
	@Benchmark
	public LlmFailure typicalRateLimit() {
		return this.classifier.classify(this.rateLimited, this.context);
	}

}
