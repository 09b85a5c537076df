package dev.llmresilience.failure;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.TemporalAdjusters;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * When to come back, told in prose: {@code Please try again in 9m38.016s} (OpenAI, Groq),
 * {@code Please retry after 37 seconds} (Azure), {@code Your quota will reset after
 * 12h34m16s} (Google), {@code You will regain access on 2026-11-01 at 00:00 UTC}
 * (Anthropic), {@code Quota will be replenished in 2.12:34:56} (API Management),
 * {@code will reset at the beginning of next month} (Cohere).
 */
final class TextHints {

	// Looking for words is much cheaper than for expressions.
	private static final List<String> WAIT_WORDS = List.of(" in ", " in:", " after", "wait");

	private static final List<String> INSTANT_WORDS = List.of(" on ", " at ", " after ");

	private static final Pattern WAIT = Pattern.compile(
			"\\b(?:(?:again|retry|retrying|request|resets?|renews?|available):?\\s{1,3}(?:in|after)|wait(?: for| at least)?)"
					+ ":?\\s{1,3}(?:(?:about|approximately|another)\\s{1,3})?(" + Durations.AMOUNTS + ")",
			Pattern.CASE_INSENSITIVE);

	private static final Pattern INSTANT = Pattern
		.compile("\\b(?:access|resets?|renews?|available|again|retry):?\\s{1,3}(?:on|at|after)\\s{1,3}"
				+ ResetTimes.DATE_TIME, Pattern.CASE_INSENSITIVE);

	private static final Pattern CLOCK = Pattern
		.compile("\\breplenished in (?:(\\d{1,3})\\.)?(\\d{1,2}):(\\d{2}):(\\d{2})", Pattern.CASE_INSENSITIVE);

	private static final Pattern NEXT_MONTH = Pattern.compile(
			"\\breset\\w{0,3} (?:on|at) the (?:beginning|start|first(?: day)?|1st) of (?:the )?next month\\b",
			Pattern.CASE_INSENSITIVE);

	private TextHints() {
	}

	/**
	 * Finds the longest wait that a text asks for.
	 * @param text the text
	 * @param now the wall clock
	 * @return the duration from now, or {@code null}
	 */
	static @Nullable Duration find(String text, Instant now) {
		String lowerCase = text.toLowerCase(Locale.ROOT);
		Duration hint = null;
		if (BodyTexts.containsAny(lowerCase, WAIT_WORDS)) {
			Matcher wait = WAIT.matcher(lowerCase);
			while (wait.find()) {
				hint = Durations.longer(hint, Durations.ofUnits(wait.group(1)));
			}
		}
		if (BodyTexts.containsAny(lowerCase, INSTANT_WORDS)) {
			Matcher instants = INSTANT.matcher(lowerCase);
			while (instants.find()) {
				Instant instant = ResetTimes.instant(instants);
				hint = (instant != null) ? Durations.longer(hint, ResetTimes.until(instant, now)) : hint;
			}
		}
		Matcher clock = CLOCK.matcher(lowerCase);
		if (lowerCase.contains("replenished") && clock.find()) {
			hint = Durations.longer(hint, duration(clock));
		}
		return (lowerCase.contains("next month") && NEXT_MONTH.matcher(lowerCase).find())
				? Durations.longer(hint, untilNextMonth(now)) : hint;
	}

	private static Duration duration(Matcher clock) {
		String days = clock.group(1);
		return Duration.ofDays((days != null) ? Long.parseLong(days) : 0)
			.plusHours(Long.parseLong(clock.group(2)))
			.plusMinutes(Long.parseLong(clock.group(3)))
			.plusSeconds(Long.parseLong(clock.group(4)));
	}

	private static @Nullable Duration untilNextMonth(Instant now) {
		LocalDate first = now.atZone(ZoneOffset.UTC).toLocalDate().with(TemporalAdjusters.firstDayOfNextMonth());
		return ResetTimes.until(first.atStartOfDay().toInstant(ZoneOffset.UTC), now);
	}

}
