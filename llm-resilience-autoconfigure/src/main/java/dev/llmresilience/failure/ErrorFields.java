package dev.llmresilience.failure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
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

	private final Map<Place, String> codes = new EnumMap<>(Place.class);

	private final List<String> quotaIds = new ArrayList<>();

	private final List<String> texts = new ArrayList<>();

	private int status;

	private @Nullable Duration delay;

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
		boolean inError = "error".equals(parent);
		switch (name) {
			case "error", "detail" -> {
				if (parent == null) {
					putText(value);
				}
			}
			case "message" -> {
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
			case "retry_after", "resets_in_seconds" -> putDelay(Durations.ofSeconds(value));
			case "retry_after_ms" -> putDelay(Durations.ofMillis(value));
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
		if (this.texts.size() < MAX_VALUES && !text.isBlank()) {
			this.texts.add((text.length() > MAX_TEXT) ? text.substring(0, MAX_TEXT) : text);
		}
	}

	private void putDelay(@Nullable Duration value) {
		this.delay = Durations.longer(this.delay, value);
	}

	// A status may stand where others have a code, as a number or as a string.
	private void putCode(Place place, String value) {
		if (value.matches("[45]\\d\\d")) {
			this.status = (this.status != 0) ? this.status : Integer.parseInt(value);
		}
		else if (!value.isBlank()) {
			this.codes.putIfAbsent(place, value);
		}
	}

	ErrorBody toBody() {
		// Anthropic's envelope has the type "error".
		this.codes.remove(Place.TYPE, "error");
		return new ErrorBody(List.copyOf(this.codes.values()), List.copyOf(this.quotaIds), this.status,
				String.join("\n", this.texts), this.delay);
	}

	/**
	 * Where a code stands, the most telling place first.
	 */
	private enum Place {

		DETAILS_CODE, ERROR_CODE, ERROR_TYPE, METADATA_TYPE, ERROR_STATUS, CODE, TYPE, STATUS, LIMIT_SOURCE;

		static @Nullable Place of(@Nullable String parent, String name) {
			if (parent == null) {
				return switch (name) {
					case "code" -> CODE;
					case "type" -> TYPE;
					case "status", "statusCode" -> STATUS;
					default -> null;
				};
			}
			return switch (parent + "." + name) {
				case "details.error_code" -> DETAILS_CODE;
				case "error.code" -> ERROR_CODE;
				case "error.type" -> ERROR_TYPE;
				case "error.status" -> ERROR_STATUS;
				case "metadata.error_type" -> METADATA_TYPE;
				case "metadata.limit_source" -> LIMIT_SOURCE;
				default -> null;
			};
		}

	}

}
