package dev.llmresilience.failure;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmFailure.LatchScope;
import dev.llmresilience.LlmFailure.Verdict;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.HttpServerErrorException;
import org.springframework.web.client.RestClientResponseException;

/**
 * Makes failures out of short descriptions, and short descriptions out of failures, so
 * that tests read like tables.
 */
final class Failures {

	static final Instant NOW = Instant.parse("2026-10-01T00:00:00Z");

	private static final DefaultFailureClassifier CLASSIFIER = new DefaultFailureClassifier();

	private Failures() {
	}

	static String judge(Throwable thrown) {
		return judge(thrown, ProviderType.GENERIC);
	}

	static String judge(Throwable thrown, ProviderType type) {
		return describe(classify(thrown, type));
	}

	static LlmFailure classify(Throwable thrown, ProviderType type) {
		return CLASSIFIER.classify(thrown, new FailureContext(type, NOW, false));
	}

	/**
	 * Makes the exception that Spring's RestClient throws for a response.
	 * @param status the status
	 * @param headers such as {@code "Retry-After: 2; x-should-retry: false"}
	 * @param body the body
	 * @return the exception
	 */
	static RestClientResponseException response(int status, @Nullable String headers, @Nullable String body) {
		HttpHeaders httpHeaders = new HttpHeaders();
		for (String header : (headers != null) ? headers.split(";") : new String[0]) {
			int colon = header.indexOf(':');
			httpHeaders.add(header.substring(0, colon).strip(), header.substring(colon + 1));
		}
		byte[] bytes = (body != null) ? body.getBytes(StandardCharsets.UTF_8) : new byte[0];
		HttpStatusCode code = HttpStatusCode.valueOf(status);
		return code.is4xxClientError() ? new HttpClientErrorException(code, "", httpHeaders, bytes, null)
				: new HttpServerErrorException(code, "", httpHeaders, bytes, null);
	}

	/**
	 * Describes a failure by what is special about it, such as
	 * {@code "RATE_LIMITED after 1.2s"} or {@code "CONNECTION unsent retries<=1"}.
	 * @param failure the failure
	 * @return the description
	 */
	static String describe(LlmFailure failure) {
		List<String> words = new ArrayList<>();
		words.add(failure.kind().name());
		if (failure.hint() != null) {
			words.add("after " + failure.hint().toString().substring(2).toLowerCase(Locale.ROOT));
		}
		if (failure.verdict() != Verdict.NONE) {
			words.add(failure.verdict().name());
		}
		if (!failure.sent()) {
			words.add("unsent");
		}
		if (failure.maxRetries() != Integer.MAX_VALUE) {
			words.add("retries<=" + failure.maxRetries());
		}
		if (failure.latch() != LatchScope.NONE) {
			words.add("latches " + failure.latch());
		}
		if (failure.resetAt() != null) {
			words.add("until " + failure.resetAt());
		}
		return String.join(" ", words);
	}

}
