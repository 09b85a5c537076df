package dev.llmresilience.failure;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * When a server says to come back, in any of the ways in which servers say it: headers,
 * fields of the error body, or prose. Never throws; what cannot be read, is negative, not
 * a number or in the past is no hint.
 * <p>
 * A hint of zero means that the server spoke but set no floor.
 */
final class Hints {

	private static final List<String> MILLIS_HEADERS = List.of("retry-after-ms", "x-ms-retry-after-ms");

	private Hints() {
	}

	/**
	 * Reads the hint of a response: the longest of what its headers, its body's fields
	 * and its text say.
	 * @param response the response
	 * @param resetHeader the header to take for a wait where nothing else says when to
	 * come back after a 429, or {@code null}
	 * @param now the wall clock
	 * @return the duration from now, zero for no floor, {@code null} for no hint
	 */
	static @Nullable Duration of(FailureFacts.Response response, @Nullable String resetHeader, Instant now) {
		ErrorBody body = response.body();
		Duration hint = Durations.longer(body.delay(), TextHints.find(body.text(), now));
		if (body.resetAt() != null) {
			hint = Durations.longer(hint, ResetTimes.until(body.resetAt(), now));
		}
		if (response.insideSuccess()) {
			return hint;
		}
		hint = Durations.longer(hint, ofHeaders(response.headers(), now));
		if (hint == null && resetHeader != null && response.status() == 429) {
			for (String value : response.headers().apply(resetHeader)) {
				hint = Durations.longer(hint, ResetTimes.until(value, now));
			}
		}
		return hint;
	}

	/**
	 * Reads the headers. A header in milliseconds replaces its twin in seconds, which is
	 * the same wait rounded.
	 * @param headers the values of the header of a name
	 * @param now the wall clock
	 * @return the duration from now, zero for no floor, {@code null} for no hint
	 */
	static @Nullable Duration ofHeaders(Function<String, List<String>> headers, Instant now) {
		Duration millis = null;
		for (String name : MILLIS_HEADERS) {
			for (String value : headers.apply(name)) {
				millis = Durations.longer(millis, Durations.ofMillis(value));
			}
		}
		if (millis != null && !millis.isZero()) {
			return millis;
		}
		Duration seconds = millis;
		for (String value : headers.apply("retry-after")) {
			seconds = Durations.longer(seconds, ofRetryAfter(value, now));
		}
		return seconds;
	}

	private static @Nullable Duration ofRetryAfter(String value, Instant now) {
		Duration seconds = Durations.ofSeconds(value);
		return (seconds != null) ? seconds : HttpDates.until(value, now);
	}

}
