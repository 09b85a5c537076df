package dev.llmresilience.sample.provider;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * What the embedded provider can be told to do instead of answering. Written in kebab
 * case in JSON.
 */
public enum FaultKind {

	/** Nothing: answers again. */
	NONE,

	/** 429 that passes, with {@code Retry-After}. */
	RATE_LIMITED,

	/** 529 {@code overloaded_error}; OpenAI says the same with a 503. */
	OVERLOADED,

	/** 500. */
	SERVER_ERROR,

	/** Closes the connection without an answer. */
	RESET,

	/** Accepts the request and never answers. */
	HANG,

	/** 429 that does not pass: a spend limit is reached. */
	SPEND_CAP,

	/** 200 whose body breaks off in the middle. */
	MALFORMED,

	/** Any other error status, named by {@code status}. */
	STATUS;

	/**
	 * The kind's name in JSON.
	 * @return kebab case
	 */
	@JsonValue
	public String text() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	/**
	 * Finds a kind by its name in JSON.
	 * @param text kebab case
	 * @return the kind
	 */
	@JsonCreator
	public static FaultKind of(String text) {
		return Arrays.stream(values())
			.filter((kind) -> kind.text().equals(text))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("fault must be one of " + names() + ", but was " + text));
	}

	static String names() {
		return Arrays.stream(values()).map(FaultKind::text).collect(Collectors.joining(", "));
	}

}
