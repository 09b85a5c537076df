package dev.llmresilience.failure;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The known fields of an error body, whichever provider's form it has.
 * <p>
 * The text may hold what the user wrote: it is there to be searched and must never be
 * kept in a failure, logged or put into a message.
 *
 * @param codes the error's codes as the provider wrote them, the most telling one first
 * @param words the same in lower case
 * @param quotaIds the names of the quotas that were exceeded in Google's form
 * @param status the error status that the body states, {@code 0} for none
 * @param text all messages in lower case, to be searched only; empty where there was none
 * @param delay how long a field says to wait, or {@code null}
 * @param resetAt when a field says to come back, or {@code null}
 * @param retryable whether a field says that a retry can help, or {@code null}
 */
record ErrorBody(List<String> codes, List<String> words, List<String> quotaIds, int status, String text,
		@Nullable Duration delay, @Nullable Instant resetAt, @Nullable Boolean retryable) {

	/** A body that says nothing. */
	static final ErrorBody EMPTY = new ErrorBody(List.of(), List.of(), List.of(), 0, "", null, null, null);

	/**
	 * Reads a body as it came over the wire, which may be anything. Never throws.
	 * @param bytes the bytes, of which the first 64 KB are read
	 * @return what was recognised
	 */
	static ErrorBody parse(byte @Nullable [] bytes) {
		return (bytes != null) ? ErrorBodyParser.parse(bytes) : EMPTY;
	}

	/**
	 * Reads a body's text, which may be anything. Never throws.
	 * @param text the text, of which the first 64 K characters are read
	 * @return what was recognised
	 */
	static ErrorBody parse(@Nullable String text) {
		return (text != null) ? ErrorBodyParser.parse(text) : EMPTY;
	}

	/**
	 * Reads a body that a client library has already parsed.
	 * @param tree maps, collections and scalars
	 * @return what was recognised
	 */
	static ErrorBody of(@Nullable Object tree) {
		ErrorFields fields = new ErrorFields();
		fields.putTree(tree);
		return fields.toBody();
	}

	static List<String> words(List<String> codes) {
		return codes.stream().map((code) -> code.toLowerCase(Locale.ROOT)).toList();
	}

	/**
	 * Returns a copy with one more code, the most telling one.
	 * @param code the code
	 * @return the copy
	 */
	ErrorBody withCode(String code) {
		List<String> all = new ArrayList<>(this.codes);
		all.add(0, code);
		return new ErrorBody(List.copyOf(all), words(all), this.quotaIds, this.status, this.text, this.delay,
				this.resetAt, this.retryable);
	}

	/**
	 * Whether a code is among those of the body.
	 * @param code the code, in lower case
	 * @return {@code true} if it is
	 */
	boolean has(String code) {
		return this.words.contains(code);
	}

	/**
	 * Returns the most telling code that is one of the given.
	 * @param known the codes, in lower case
	 * @return the code in lower case, or {@code null}
	 */
	@Nullable String codeIn(Collection<String> known) {
		for (String word : this.words) {
			if (known.contains(word)) {
				return word;
			}
		}
		return null;
	}

	/**
	 * Returns what the most telling code with a meaning means.
	 * @param <T> what codes mean
	 * @param meanings the meanings of codes in lower case
	 * @return the meaning, or {@code null} where no code has one
	 */
	<T> @Nullable T meaning(Map<String, T> meanings) {
		String code = codeIn(meanings.keySet());
		return (code != null) ? meanings.get(code) : null;
	}

	@Override
	public String toString() {
		return "ErrorBody[codes=" + this.codes.size() + ", status=" + this.status + "]";
	}

}
