package dev.llmresilience.failure;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Gathers the fields of an error body while it is read. A value within the {@code error}
 * object beats the same one around it, and of several the first counts. Not thread-safe.
 */
final class ErrorFields {

	private static final int MAX_DEPTH = 64;

	private static final int MAX_VALUES = 16;

	private static final int MAX_TEXT = 4096;

	private static final int MAX_TEXTS = 8192;

	private final Map<Place, String> codes = new EnumMap<>(Place.class);

	private final List<String> quotaIds = new ArrayList<>();

	private final List<String> texts = new ArrayList<>();

	private int textLength;

	private int status;

	private @Nullable Duration delay;

	private @Nullable Instant resetAt;

	private @Nullable Boolean retryable;

	/**
	 * Takes a scalar value.
	 * @param parent the name of the object that holds it, {@code null} at the top
	 * @param name its own name, {@code null} for a value that stands alone
	 * @param value the value
	 */
	void put(@Nullable String parent, @Nullable String name, String value) {
		if (name == null) {
			putText(value);
			return;
		}
		boolean inError = parent != null && isError(parent);
		switch (name) {
			case "error", "detail" -> {
				if (parent == null) {
					putText(value);
				}
			}
			case "message", "Message" -> {
				if (parent == null || inError) {
					putText(value);
				}
			}
			case "raw" -> {
				if ("metadata".equals(parent)) {
					putText(value);
				}
			}
			case "retryDelay", "quotaResetDelay" -> putDelay(Durations.ofUnits(value));
			case "retry_after", "retry_after_seconds", "resets_in_seconds" -> putDelay(ofSecondsOrUnits(value));
			case "retry_after_ms" -> putDelay(Durations.ofMillis(value));
			case "resets_at", "reset_at", "quotaResetTimeStamp" -> putReset(ResetTimes.instant(value));
			case "X-RateLimit-Reset", "x-ratelimit-reset" -> {
				if ("headers".equals(parent)) {
					putReset(ResetTimes.instant(value));
				}
			}
			case "retryable" -> {
				if ("availability".equals(parent)) {
					this.retryable = Boolean.valueOf(value);
				}
			}
			case "originalStatusCode" -> putStatus(value);
			case "quotaId" -> {
				if (this.quotaIds.size() < MAX_VALUES) {
					this.quotaIds.add(value);
				}
			}
			default -> {
				Place place = Place.of(parent, name);
				if (place != null) {
					putCode(place, value);
				}
			}
		}
	}

	/**
	 * Takes a tree that a client library has already parsed.
	 * @param tree maps, collections and scalars
	 */
	void putTree(@Nullable Object tree) {
		putTree(null, null, tree, 0);
	}

	private void putTree(@Nullable String parent, @Nullable String name, @Nullable Object node, int depth) {
		if (node == null || depth > MAX_DEPTH) {
			return;
		}
		if (node instanceof Map<?, ?> map) {
			map.forEach((key, value) -> putTree(name, String.valueOf(key), value, depth + 1));
		}
		else if (node instanceof Collection<?> elements) {
			elements.forEach((element) -> putTree(parent, name, element, depth + 1));
		}
		else {
			put(parent, name, node.toString());
		}
	}

	private void putText(String text) {
		int length = Math.min(text.length(), Math.min(MAX_TEXT, MAX_TEXTS - this.textLength));
		if (length > 0 && this.texts.size() < MAX_VALUES && !text.isBlank()) {
			this.texts.add(text.substring(0, length));
			this.textLength += length;
		}
	}

	private void putDelay(@Nullable Duration value) {
		this.delay = Durations.longer(this.delay, value);
	}

	private void putReset(@Nullable Instant value) {
		if (value != null && (this.resetAt == null || value.isAfter(this.resetAt))) {
			this.resetAt = value;
		}
	}

	private static @Nullable Duration ofSecondsOrUnits(String value) {
		Duration seconds = Durations.ofSeconds(value);
		return (seconds != null) ? seconds : Durations.ofUnits(value);
	}

	// A status may stand where others have a code, as a number or as a string.
	private void putCode(Place place, String value) {
		if (!putStatus(value) && !value.isBlank()) {
			this.codes.putIfAbsent(place, (place == Place.AWS_TYPE) ? awsName(value) : value);
		}
	}

	private boolean putStatus(String value) {
		boolean isStatus = value.length() == 3 && (value.charAt(0) == '4' || value.charAt(0) == '5')
				&& isDigit(value.charAt(1)) && isDigit(value.charAt(2));
		if (isStatus && this.status == 0) {
			this.status = Integer.parseInt(value);
		}
		return isStatus;
	}

	private static boolean isDigit(char c) {
		return c >= '0' && c <= '9';
	}

	/**
	 * Takes the name out of an AWS error type.
	 * @param type such as {@code com.amazon.coral.service#ThrottlingException} or
	 * {@code ThrottlingException:http://internal.amazon.com/}
	 * @return the name
	 */
	static String awsName(String type) {
		String name = type.substring(type.indexOf('#') + 1);
		int colon = name.indexOf(':');
		return ((colon >= 0) ? name.substring(0, colon) : name).strip();
	}

	// Several call the object of the error by other names.
	private static boolean isError(String name) {
		return name.equals("error") || name.equals("errors") || name.equals("detail");
	}

	ErrorBody toBody() {
		// Anthropic's envelope has the type "error".
		this.codes.remove(Place.TYPE, "error");
		List<String> all = List.copyOf(this.codes.values());
		return new ErrorBody(all, ErrorBody.words(all), List.copyOf(this.quotaIds), this.status,
				String.join("\n", this.texts).toLowerCase(Locale.ROOT), this.delay, this.resetAt, this.retryable);
	}

	/**
	 * Where a code stands, the most telling place first.
	 */
	private enum Place {

		DETAILS_CODE, REASON, ERROR_CODE, ERROR_TYPE, METADATA_TYPE, ERROR_STATUS, AWS_TYPE, CODE, TYPE, STATUS,
		LIMIT_SOURCE;

		static @Nullable Place of(@Nullable String parent, String name) {
			if (parent == null) {
				return switch (name) {
					case "code" -> CODE;
					case "__type", "errorCode" -> AWS_TYPE;
					case "type", "error_type" -> TYPE;
					case "status", "statusCode" -> STATUS;
					default -> null;
				};
			}
			if (isError(parent)) {
				return switch (name) {
					case "code" -> ERROR_CODE;
					case "type" -> ERROR_TYPE;
					case "status" -> ERROR_STATUS;
					default -> null;
				};
			}
			return switch (name) {
				case "error_code" -> parent.equals("details") ? DETAILS_CODE : null;
				case "reason" -> parent.equals("details") ? REASON : null;
				case "error_type" -> parent.equals("metadata") ? METADATA_TYPE : null;
				case "limit_source" -> parent.equals("metadata") ? LIMIT_SOURCE : null;
				default -> null;
			};
		}

	}

}
