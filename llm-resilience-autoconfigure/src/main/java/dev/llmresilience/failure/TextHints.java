package dev.llmresilience.failure;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * When to come back, told in prose: {@code Please try again in 9m38.016s} (OpenAI, Groq),
 * {@code Please retry after 37 seconds} (Azure), {@code Your quota will reset after
 * 12h34m16s} (Google), {@code You will regain access on 2026-11-01 at 00:00 UTC}
 * (Anthropic).
 */
final class TextHints {

	private static final Pattern WAIT = Pattern
		.compile("\\b(?:try again|retry|retry again|resets?)\\s{1,3}(?:in|after)\\s{1,3}(?:about\\s{1,3})?("
				+ Durations.AMOUNTS + ")", Pattern.CASE_INSENSITIVE);

	private static final Pattern REGAIN = Pattern
		.compile("\\bregain access on (\\d{4}-\\d{2}-\\d{2})(?: at (\\d{2}:\\d{2}) UTC)?", Pattern.CASE_INSENSITIVE);

	private TextHints() {
	}

	/**
	 * Finds the longest wait that a text asks for.
	 * @param text the text
	 * @param now the wall clock
	 * @return the duration from now, or {@code null}
	 */
	static @Nullable Duration find(String text, Instant now) {
		Duration hint = null;
		Matcher wait = WAIT.matcher(text);
		while (wait.find()) {
			hint = Durations.longer(hint, Durations.ofUnits(wait.group(1)));
		}
		Matcher regain = REGAIN.matcher(text);
		return regain.find() ? Durations.longer(hint, until(regain.group(1), regain.group(2), now)) : hint;
	}

	private static @Nullable Duration until(String date, @Nullable String time, Instant now) {
		try {
			LocalTime timeOfDay = (time != null) ? LocalTime.parse(time) : LocalTime.MIDNIGHT;
			Instant instant = LocalDate.parse(date).atTime(timeOfDay).toInstant(ZoneOffset.UTC);
			return instant.isAfter(now) ? Durations.atMost(Duration.between(now, instant)) : null;
		}
		catch (DateTimeException ex) {
			// The date's digits are no date.
			return null;
		}
	}

}
