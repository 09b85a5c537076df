package dev.llmresilience.failure;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.ResolverStyle;
import java.time.temporal.ChronoField;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * The three forms of a date that a recipient of HTTP must read (RFC 9110, section 5.6.7).
 * A date whose weekday is wrong is no date.
 */
final class HttpDates {

	private static final DateTimeFormatter IMF_FIXDATE = form("[EEE, ]d MMM uuuu HH:mm:ss 'GMT'");

	private static final DateTimeFormatter ASCTIME = form("EEE MMM ppd HH:mm:ss uuuu");

	private HttpDates() {
	}

	/**
	 * Reads a date.
	 * @param value the date
	 * @param now the wall clock
	 * @return the duration from now, {@code null} for a date in the past or no date
	 */
	static @Nullable Duration until(String value, Instant now) {
		Instant date = instant(value, now);
		return (date != null) ? ResetTimes.until(date, now) : null;
	}

	/**
	 * Reads a date.
	 * @param value the date
	 * @param now the wall clock, which tells the century of a year of two digits
	 * @return the date, {@code null} for no date
	 */
	static @Nullable Instant instant(String value, Instant now) {
		try {
			return Instant.from(anyForm(now).parse(value.strip()));
		}
		catch (DateTimeException ex) {
			return null;
		}
	}

	private static DateTimeFormatter anyForm(Instant now) {
		return new DateTimeFormatterBuilder().appendOptional(IMF_FIXDATE)
			.appendOptional(rfc850(now))
			.appendOptional(ASCTIME)
			.toFormatter(Locale.ENGLISH)
			.withResolverStyle(ResolverStyle.STRICT)
			.withZone(ZoneOffset.UTC);
	}

	// The year has two digits and lies at most fifty years ahead.
	private static DateTimeFormatter rfc850(Instant now) {
		LocalDate base = now.atZone(ZoneOffset.UTC).toLocalDate().minusYears(49);
		return new DateTimeFormatterBuilder().parseCaseInsensitive()
			.appendPattern("EEEE, dd-MMM-")
			.appendValueReduced(ChronoField.YEAR, 2, 2, base)
			.appendPattern(" HH:mm:ss 'GMT'")
			.toFormatter(Locale.ENGLISH);
	}

	private static DateTimeFormatter form(String pattern) {
		return new DateTimeFormatterBuilder().parseCaseInsensitive().appendPattern(pattern).toFormatter(Locale.ENGLISH);
	}

}
