package dev.llmresilience.failure;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the text of error bodies tells where no code does: words that several providers
 * use alike. Text alone never shuts anything off. Texts are in lower case. Stateless.
 */
final class BodyTexts {

	// OpenAI and Groq, on 413 and on 429, even where the text goes on to say "try again
	// in 50s".
	private static final Pattern LIMIT_AND_REQUESTED = pattern(
			"\\blimit:?\\s{0,3}(\\d[\\d,]{0,14})\\b.{0,120}?\\brequested:?\\s{0,3}(\\d[\\d,]{0,14})\\b");

	private static final Pattern REQUESTED_AND_LIMIT = pattern(
			"\\brequested:?\\s{0,3}(\\d[\\d,]{0,14})\\b.{0,120}?\\blimit:?\\s{0,3}(\\d[\\d,]{0,14})\\b");

	private static final List<String> TOO_LARGE = List.of("request too large", "request is too large",
			"prompt too long", "prompt is too long", "input too long", "input is too long", "input is too large",
			"maximum prompt length", "context length", "context window", "contextwindow", "context_window",
			"context size", "context limit", "exceeds the maximum number of tokens");

	// Which of the two a text names first is the one that it complains about: what comes
	// later may be an offer.
	private static final Pattern QUOTA_WINDOW = pattern(
			"(\\bper[ -]?(?:day|week|month)\\b|/ ?(?:day|week|month)\\b|\\b(?:dai|week|month)ly\\b|\\b[rt]pd\\b|\\basd\\b"
					+ "|\\bper 86400 ?s|(?:requests|tokens|calls|project|model|user)(?:per|by)(?:day|week|month))"
					+ "|\\bper[ -]?(?:sec(?:ond)?|min(?:ute)?|hour)\\b|/ ?(?:sec(?:ond)?|min(?:ute)?|hour)\\b|\\b[rt]p[ms]\\b");

	// Looking for words is much cheaper than for expressions.
	private static final List<String> LONG_WINDOWS = List.of("day", "dai", "week", "month", "rpd", "tpd", "asd",
			"86400");

	private static final Pattern LONG_QUOTA_ID = pattern("per(?:day|week|month)|daily");

	private static final Pattern RATE_LIMIT = pattern(
			"rate.?limit|too many requests|(?:\\bper.?|/ ?)(?:second|min)|throttl"
					+ "|resource.{0,10}exhausted|concurren|slow down|capacity|high demand|overloaded");

	private BodyTexts() {
	}

	private static Pattern pattern(String expression) {
		return Pattern.compile(expression, Pattern.CASE_INSENSITIVE);
	}

	/**
	 * Whether a text holds one of several words.
	 * @param text the text
	 * @param words the words
	 * @return {@code true} if it does
	 */
	static boolean containsAny(String text, List<String> words) {
		for (String word : words) {
			if (text.contains(word)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Whether the request can never fit.
	 * @param status the status, {@code 0} for none
	 * @param text the body's text
	 * @return {@code true} if the text says so and the status allows for it
	 */
	static boolean isTooLarge(int status, String text) {
		return switch (status) {
			case 0, 400, 413, 422, 429 -> containsAny(text, TOO_LARGE) || requestsMoreThanLimit(text);
			default -> false;
		};
	}

	private static boolean requestsMoreThanLimit(String text) {
		if (!text.contains("requested")) {
			return false;
		}
		Matcher limitFirst = LIMIT_AND_REQUESTED.matcher(text);
		if (limitFirst.find()) {
			return number(limitFirst.group(2)) > number(limitFirst.group(1));
		}
		Matcher requestFirst = REQUESTED_AND_LIMIT.matcher(text);
		return requestFirst.find() && number(requestFirst.group(1)) > number(requestFirst.group(2));
	}

	private static long number(String digits) {
		return Long.parseLong(digits.replace(",", ""));
	}

	/**
	 * Whether a limit is counted by the day or longer.
	 * @param text the body's text
	 * @return {@code true} if the text says so
	 */
	static boolean isLongQuota(String text) {
		if (!containsAny(text, LONG_WINDOWS)) {
			return false;
		}
		Matcher window = QUOTA_WINDOW.matcher(text);
		return window.find() && window.group(1) != null;
	}

	/**
	 * Whether a named quota is counted by the day or longer.
	 * @param quotaIds the names, such as
	 * {@code GenerateRequestsPerDayPerProjectPerModel-FreeTier}
	 * @return {@code true} if one of them says so
	 */
	static boolean isLongQuotaId(List<String> quotaIds) {
		return quotaIds.stream().anyMatch((id) -> LONG_QUOTA_ID.matcher(id).find());
	}

	/**
	 * Whether a text tells of a rate limit or of a shortage that passes.
	 * @param text the body's text
	 * @return {@code true} if it does
	 */
	static boolean isRateLimit(String text) {
		return RATE_LIMIT.matcher(text).find();
	}

}
