package dev.llmresilience.failure;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

import dev.llmresilience.LlmFailure;

import org.springframework.web.client.RestClientResponseException;

/**
 * Prints how long one judgement takes, for bodies of up to 64 KB. Not a test: run its
 * main method, and compare the lines with each other rather than with those of another
 * machine.
 */
public final class ClassificationTimes {

	private static final int LIMIT = 64 * 1024;

	// Counts the thread's own time, not that of its neighbours on a busy machine.
	private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

	private ClassificationTimes() {
	}

	/**
	 * Measures and prints.
	 * @param args how many judgements to measure per body
	 */
	public static void main(String[] args) {
		int count = (args.length > 0) ? Integer.parseInt(args[0]) : 5_000;
		System.out.printf("typical 429, mean: %.2f us%n", mean(bodies().getOrDefault("typical 429", ""), count * 50));
		System.out.printf("%-28s %9s %9s %9s %9s%n", "body", "p50 us", "p99 us", "p99.9 us", "max us");
		bodies().forEach((name, body) -> {
			measure(body, count);
			long[] nanos = measure(body, count);
			System.out.printf("%-28s %9.1f %9.1f %9.1f %9.1f%n", name, micros(nanos, 0.5), micros(nanos, 0.99),
					micros(nanos, 0.999), micros(nanos, 1));
		});
	}

	private static Map<String, String> bodies() {
		Map<String, String> bodies = new LinkedHashMap<>();
		bodies.put("typical 429", """
				{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed the rate \
				limit of your organization of 50 requests per minute."},"request_id":"req_x"}""");
		bodies.put("Google's 429", """
				{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing \
				details. Please retry in 59.44s.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":\
				"GenerateContentPaidTierInputTokensPerModelPerMinute"}]},{"retryDelay":"59s"}]}}""");
		bodies.put("64 KB of one message", "{\"error\":{\"message\":\"" + fill("lorem ipsum ") + "\"}}");
		bodies.put("64 KB of messages", fill("{\"message\":\"" + "try again in 9 Limit 9 ".repeat(180) + "\"}"));
		bodies.put("64 KB of fields", "{" + fill("\"code\":\"x\",\"retry_after\":1,"));
		bodies.put("64 KB of nesting", fill("{\"a\":[").substring(0, 3000) + fill(" "));
		bodies.put("64 KB of digits", "{\"retry_after\":" + fill("9"));
		bodies.put("64 KB of text", fill("try again in 9 hours, limit: 9, requested 8 "));
		bodies.put("64 KB of words, no space", fill("limit"));
		bodies.put("64 KB of a page", "<html>" + fill("<p>rate limit</p>"));
		return bodies;
	}

	private static String fill(String part) {
		return part.repeat(LIMIT / part.length());
	}

	private static long[] measure(String body, int count) {
		RestClientResponseException[] thrown = new RestClientResponseException[64];
		Arrays.setAll(thrown, (i) -> Failures.response(429, "Retry-After: 2",
				new String(body.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8)));
		ProviderType[] types = ProviderType.values();
		long[] nanos = new long[count];
		int kinds = 0;
		for (int i = 0; i < count; i++) {
			long start = THREADS.getCurrentThreadCpuTime();
			LlmFailure failure = Failures.classify(thrown[i % thrown.length], types[i % types.length]);
			nanos[i] = THREADS.getCurrentThreadCpuTime() - start;
			kinds += failure.kind().hashCode() & 1;
		}
		if (kinds < 0) {
			throw new IllegalStateException();
		}
		Arrays.sort(nanos);
		return nanos;
	}

	private static double mean(String body, int count) {
		RestClientResponseException thrown = Failures.response(429, "Retry-After: 2", body);
		long start = 0;
		int hints = 0;
		for (int i = -count; i < count; i++) {
			if (i == 0) {
				start = THREADS.getCurrentThreadCpuTime();
			}
			hints += (Failures.classify(thrown, ProviderType.ANTHROPIC).hint() != null) ? 1 : 0;
		}
		return (THREADS.getCurrentThreadCpuTime() - start) / 1000.0 / Math.min(hints, count);
	}

	private static double micros(long[] sorted, double quantile) {
		return sorted[(int) Math.min(sorted.length - 1L, (long) (sorted.length * quantile))] / 1000.0;
	}

}
