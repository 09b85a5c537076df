package dev.llmresilience.autoconfigure;

import java.io.Serial;

import org.jspecify.annotations.Nullable;

/**
 * A property of this library whose value cannot work.
 */
class InvalidPropertyException extends IllegalStateException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String property;

	private final @Nullable String value;

	private final String reason;

	private final String action;

	InvalidPropertyException(String property, @Nullable Object value, String reason, String action) {
		super(property + ((value != null) ? " = " + value : "") + ": " + reason);
		this.property = property;
		this.value = (value != null) ? value.toString() : null;
		this.reason = reason;
		this.action = action;
	}

	/**
	 * A provider entry that cannot work, whatever its properties.
	 * @param name the name of the entry
	 * @param reason what is wrong
	 * @param action what to do
	 * @return the exception
	 */
	static InvalidPropertyException ofProvider(String name, String reason, String action) {
		return new InvalidPropertyException(ProviderNames.PROVIDERS + "." + name, null, reason, action);
	}

	String property() {
		return this.property;
	}

	@Nullable String value() {
		return this.value;
	}

	String reason() {
		return this.reason;
	}

	String action() {
		return this.action;
	}

}
