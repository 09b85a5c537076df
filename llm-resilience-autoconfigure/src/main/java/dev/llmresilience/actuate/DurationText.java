package dev.llmresilience.actuate;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

import org.springframework.boot.convert.DurationStyle;

/**
 * Writes durations as they are written in properties.
 */
final class DurationText {

	private static final ChronoUnit[] UNITS = { ChronoUnit.DAYS, ChronoUnit.HOURS, ChronoUnit.MINUTES,
			ChronoUnit.SECONDS, ChronoUnit.MILLIS, ChronoUnit.MICROS };

	private DurationText() {
	}

	/**
	 * Writes a duration in the largest unit that leaves no fraction.
	 * @param duration a duration of at most 292 years
	 * @return for example {@code 500ms}, {@code 30s} or {@code 10m}
	 */
	static String of(Duration duration) {
		if (duration.isZero()) {
			return "0s";
		}
		for (ChronoUnit unit : UNITS) {
			if (duration.toNanos() % unit.getDuration().toNanos() == 0) {
				return DurationStyle.SIMPLE.print(duration, unit);
			}
		}
		return DurationStyle.SIMPLE.print(duration, ChronoUnit.NANOS);
	}

}
