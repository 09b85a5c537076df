package dev.llmresilience.failure;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Reads durations as servers write them. Nothing here throws, is ever negative, or
 * overflows: what is malformed is {@code null}, what is longer than {@link #MAX} is
 * {@code MAX}, and fractions of a nanosecond are rounded up, because to come back early
 * is to be refused again.
 */
final class Durations {

	/** Ten years, which is longer than anybody waits and safe to calculate with. */
	static final Duration MAX = Duration.ofDays(3650);

	private static final BigDecimal MAX_NANOS = BigDecimal.valueOf(MAX.toNanos());

	private static final String UNIT = "(?:milliseconds?|microseconds?|nanoseconds?|seconds?|minutes?|hours?|days?"
			+ "|msecs?|secs?|mins?|hrs?|ms|us|\u00B5s|\u03BCs|ns|s|m|h|d)";

	/**
	 * An amount with its unit, or several in a row, for use in other expressions: Go's
	 * durations ({@code 9m38.016s}) and prose ({@code 37 seconds}).
	 */
	static final String AMOUNTS = "(?:\\d{1,30}(?:\\.\\d{1,30})?\\s{0,2}" + UNIT
			+ "(?![a-z])(?:,?\\s{1,2}(?:and\\s{1,2})?)?){1,8}";

	private static final Pattern AMOUNT = Pattern.compile("(\\d{1,30}(?:\\.\\d{1,30})?)\\s{0,2}(" + UNIT + ")(?![a-z])",
			Pattern.CASE_INSENSITIVE);

	private static final Pattern ALL_AMOUNTS = Pattern.compile(AMOUNTS, Pattern.CASE_INSENSITIVE);

	private static final Pattern NUMBER = Pattern
		.compile("\\+?(?:\\d{1,60}(?:\\.\\d{0,60})?|\\.\\d{1,60})" + "(?:[eE][+-]?\\d{1,3})?");

	private Durations() {
	}

	/**
	 * Reads a number of seconds.
	 * @param value such as {@code 2}, {@code 1.234}, {@code 1e3}, with white space around
	 * @return the duration, or {@code null}
	 */
	static @Nullable Duration ofSeconds(String value) {
		return ofNumber(value, 9);
	}

	/**
	 * Reads a number of milliseconds.
	 * @param value such as {@code 50} or {@code 1200.5}, with white space around
	 * @return the duration, or {@code null}
	 */
	static @Nullable Duration ofMillis(String value) {
		return ofNumber(value, 6);
	}

	private static @Nullable Duration ofNumber(String value, int powerOfTen) {
		String number = value.strip();
		return NUMBER.matcher(number).matches() ? ofNanos(new BigDecimal(number).scaleByPowerOfTen(powerOfTen)) : null;
	}

	/**
	 * Reads amounts with units.
	 * @param value such as {@code 6m0s}, {@code 45.837906927s}, {@code 12ms} or
	 * {@code 37 seconds}
	 * @return the duration, or {@code null}
	 */
	static @Nullable Duration ofUnits(String value) {
		String amounts = value.strip();
		if (!ALL_AMOUNTS.matcher(amounts).matches()) {
			return null;
		}
		BigDecimal nanos = BigDecimal.ZERO;
		Matcher amount = AMOUNT.matcher(amounts);
		while (amount.find()) {
			nanos = nanos.add(new BigDecimal(amount.group(1)).multiply(nanosOf(amount.group(2))));
		}
		return ofNanos(nanos);
	}

	private static BigDecimal nanosOf(String unit) {
		String name = unit.toLowerCase(Locale.ROOT);
		long nanos = switch (name) {
			case "d", "day", "days" -> 86_400_000_000_000L;
			case "h", "hr", "hrs", "hour", "hours" -> 3_600_000_000_000L;
			case "m", "min", "mins", "minute", "minutes" -> 60_000_000_000L;
			case "s", "sec", "secs", "second", "seconds" -> 1_000_000_000L;
			case "ns", "nanosecond", "nanoseconds" -> 1;
			default -> (name.startsWith("m") && !name.startsWith("mic")) ? 1_000_000 : 1_000;
		};
		return BigDecimal.valueOf(nanos);
	}

	/**
	 * Returns the unit to which a duration is rounded, as far as its last digit shows it:
	 * a second for {@code 27} and {@code 6m0s}, 10 ms for {@code 7.66s}.
	 * @param value what {@link #ofSeconds} or {@link #ofUnits} can read
	 * @return the unit
	 */
	static Duration resolution(String value) {
		String number = value.strip();
		BigDecimal unit = nanosOf("s");
		Matcher amount = AMOUNT.matcher(number);
		while (amount.find()) {
			number = amount.group(1);
			unit = nanosOf(amount.group(2));
		}
		int point = number.indexOf('.');
		return ofNanos((point < 0) ? unit : unit.scaleByPowerOfTen(point + 1 - number.length()));
	}

	private static Duration ofNanos(BigDecimal nanos) {
		return (nanos.compareTo(MAX_NANOS) >= 0) ? MAX
				: Duration.ofNanos(nanos.setScale(0, RoundingMode.CEILING).longValue());
	}

	/**
	 * Cuts a duration to {@link #MAX}.
	 * @param duration the duration
	 * @return the shorter of the two
	 */
	static Duration atMost(Duration duration) {
		return (duration.compareTo(MAX) > 0) ? MAX : duration;
	}

	/**
	 * Returns the longer of two durations.
	 * @param first one of them, or {@code null}
	 * @param second the other, or {@code null}
	 * @return the longer one, {@code null} only if both are
	 */
	static @Nullable Duration longer(@Nullable Duration first, @Nullable Duration second) {
		if (first == null || second == null) {
			return (first != null) ? first : second;
		}
		return (first.compareTo(second) >= 0) ? first : second;
	}

}
