package dev.llmresilience.failure;

import java.math.BigDecimal;
import java.math.RoundingMode;
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
 * Reads when something begins anew, in all the forms in which servers write it: an
 * instant (RFC 3339, or a number since 1970) or a duration from now (seconds, or amounts
 * with units). Nothing here throws. Stateless.
 */
final class ResetTimes {

	// Less is a duration: nobody writes of 1970.
	private static final BigDecimal FIRST_EPOCH_SECOND = BigDecimal.valueOf(1_000_000_000);

	private static final BigDecimal FIRST_EPOCH_MILLI = BigDecimal.valueOf(100_000_000_000L);

	private static final BigDecimal FIRST_EPOCH_MICRO = BigDecimal.valueOf(100_000_000_000_000L);

	private static final BigDecimal FIRST_EPOCH_NANO = BigDecimal.valueOf(100_000_000_000_000_000L);

	private static final BigDecimal END = BigDecimal.valueOf(10_000_000_000_000_000_000d);

	private static final Pattern NUMBER = Pattern.compile("\\d{1,20}(?:\\.\\d{1,20})?");

	/** A date, with or without time and zone, for use in other expressions. */
	static final String DATE_TIME = "(\\d{4}-\\d{2}-\\d{2})(?:(?: at |[T ])(\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,9})?)?)"
			+ "\\s?(Z|UTC|GMT|[+-]\\d{2}:\\d{2})?)?";

	private static final Pattern INSTANT = Pattern.compile(DATE_TIME, Pattern.CASE_INSENSITIVE);

	private ResetTimes() {
	}

	/**
	 * Reads an instant.
	 * @param value such as {@code 2026-02-12T08:18:19Z}, or the seconds or milliseconds
	 * since 1970
	 * @return the instant, or {@code null}
	 */
	static @Nullable Instant instant(String value) {
		String instant = value.strip();
		if (NUMBER.matcher(instant).matches()) {
			return ofEpoch(new BigDecimal(instant));
		}
		Matcher matcher = INSTANT.matcher(instant);
		return matcher.matches() ? instant(matcher) : null;
	}

	/**
	 * Reads an instant that was found by {@link #DATE_TIME}.
	 * @param matcher the match; its first three groups are those of the expression
	 * @return the instant, or {@code null} for digits that are no date
	 */
	static @Nullable Instant instant(Matcher matcher) {
		try {
			String time = matcher.group(2);
			return LocalDate.parse(matcher.group(1))
				.atTime((time != null) ? LocalTime.parse(time) : LocalTime.MIDNIGHT)
				.toInstant(zone(matcher.group(3)));
		}
		catch (DateTimeException ex) {
			return null;
		}
	}

	private static ZoneOffset zone(@Nullable String zone) {
		boolean offset = zone != null && (zone.startsWith("+") || zone.startsWith("-"));
		return (zone != null && offset) ? ZoneOffset.of(zone) : ZoneOffset.UTC;
	}

	private static @Nullable Instant ofEpoch(BigDecimal number) {
		if (number.compareTo(FIRST_EPOCH_SECOND) < 0 || number.compareTo(END) >= 0) {
			return null;
		}
		int power = (number.compareTo(FIRST_EPOCH_MILLI) < 0) ? 0
				: (number.compareTo(FIRST_EPOCH_MICRO) < 0) ? 3 : (number.compareTo(FIRST_EPOCH_NANO) < 0) ? 6 : 9;
		BigDecimal nanos = number.scaleByPowerOfTen(9 - power).setScale(0, RoundingMode.CEILING);
		BigDecimal[] seconds = nanos.divideAndRemainder(BigDecimal.valueOf(1_000_000_000));
		return Instant.ofEpochSecond(seconds[0].longValue(), seconds[1].longValue());
	}

	/**
	 * Reads an instant or a duration.
	 * @param value such as {@code 6m0s}, {@code 27}, {@code 1705312200} or
	 * {@code 2026-01-01T00:01:00Z}
	 * @param now the wall clock
	 * @return the duration from now, or {@code null} for what is past or cannot be read
	 */
	static @Nullable Duration until(String value, Instant now) {
		Instant instant = instant(value);
		if (instant != null) {
			return until(instant, now);
		}
		Duration seconds = Durations.ofSeconds(value);
		return (seconds != null) ? seconds : Durations.ofUnits(value);
	}

	/**
	 * Returns the time to an instant.
	 * @param instant the instant
	 * @param now the wall clock
	 * @return the duration from now, at most {@link Durations#MAX}, or {@code null} for
	 * what is past
	 */
	static @Nullable Duration until(Instant instant, Instant now) {
		return instant.isAfter(now) ? Durations.atMost(Duration.between(now, instant)) : null;
	}

}
