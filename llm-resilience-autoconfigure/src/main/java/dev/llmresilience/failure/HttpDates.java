package dev.llmresilience.failure;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.chrono.IsoChronology;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.ResolverStyle;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * The three forms of a date that a recipient of HTTP must read (RFC 9110, section 5.6.7).
 * A date whose weekday is wrong is no date.
 */
final class HttpDates {

	private static final DateTimeFormatter IMF_FIXDATE = formatter("[EEE, ]d MMM uuuu HH:mm:ss 'GMT'");

	private static final DateTimeFormatter ASCTIME = formatter("EEE MMM ppd HH:mm:ss uuuu");

	private HttpDates() {
	}

	/**
	 * Reads a date.
	 * @param value the date
	 * @param now the wall clock
	 * @return the duration from now, {@code null} for a date in the past or no date
	 */
	static @Nullable Duration until(String value, Instant now) {
		String date = value.strip();
		for (DateTimeFormatter form : List.of(IMF_FIXDATE, rfc850(now), ASCTIME)) {
			try {
				Instant instant = Instant.from(form.parse(date));
				return instant.isAfter(now) ? Durations.atMost(Duration.between(now, instant)) : null;
			}
			catch (DateTimeException ex) {
				// Not this form: the next one may fit.
				continue;
			}
		}
		return null;
	}

	// The year has two digits and is at most fifty years ahead.
	private static DateTimeFormatter rfc850(Instant now) {
		LocalDate base = now.atZone(ZoneOffset.UTC).toLocalDate().minusYears(49);
		return zoned(new DateTimeFormatterBuilder().parseCaseInsensitive()
			.appendPattern("EEEE, dd-MMM-")
			.appendValueReduced(ChronoField.YEAR, 2, 2, base)
			.appendPattern(" HH:mm:ss 'GMT'"));
	}

	private static DateTimeFormatter formatter(String pattern) {
		return zoned(new DateTimeFormatterBuilder().parseCaseInsensitive().appendPattern(pattern));
	}

	private static DateTimeFormatter zoned(DateTimeFormatterBuilder builder) {
		return builder.toFormatter(Locale.ENGLISH)
			.withChronology(IsoChronology.INSTANCE)
			.withResolverStyle(ResolverStyle.STRICT)
			.withZone(ZoneOffset.UTC);
	}

}
