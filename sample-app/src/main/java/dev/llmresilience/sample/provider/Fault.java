package dev.llmresilience.sample.provider;

import org.jspecify.annotations.Nullable;

/**
 * A fault that is switched on, as JSON for example
 * {@code {"fault":"overloaded","count":3,"retryAfterSeconds":2}}.
 *
 * @param fault what to do instead of answering
 * @param count how many requests it hits before the provider answers again; all, when
 * left out
 * @param probability the chance that it hits a request, from 0 to 1; certain, when left
 * out
 * @param retryAfterSeconds the {@code Retry-After} to send; when left out, none, except
 * that a 429 that passes names the time until the request fits
 * @param status the HTTP status of a {@link FaultKind#STATUS} fault, which needs one
 */
public record Fault(FaultKind fault, @Nullable Integer count, @Nullable Double probability,
		@Nullable Integer retryAfterSeconds, @Nullable Integer status) {

	/** No fault. */
	public static final Fault NONE = of(FaultKind.NONE);

	/**
	 * Checks the values.
	 */
	public Fault {
		if (fault == null) {
			throw new IllegalArgumentException("fault must be one of " + FaultKind.names() + ", but was missing");
		}
		if (count != null && count < 1) {
			throw new IllegalArgumentException("count must be at least 1, but was " + count);
		}
		if (probability != null && !(probability >= 0 && probability <= 1)) {
			throw new IllegalArgumentException("probability must be between 0 and 1, but was " + probability);
		}
		if (retryAfterSeconds != null && retryAfterSeconds < 0) {
			throw new IllegalArgumentException("retryAfterSeconds must not be negative, but was " + retryAfterSeconds);
		}
		if ((fault == FaultKind.STATUS) != (status != null)) {
			throw new IllegalArgumentException("status must be given with the fault 'status', and only with it");
		}
		if (status != null && (status < 400 || status > 599)) {
			throw new IllegalArgumentException("status must be between 400 and 599, but was " + status);
		}
	}

	/**
	 * Creates a fault that hits every request until it is switched off.
	 * @param fault what to do instead of answering
	 * @return the fault
	 */
	public static Fault of(FaultKind fault) {
		return new Fault(fault, null, null, null, null);
	}

	/**
	 * Creates a fault that answers with the given status until it is switched off.
	 * @param status the HTTP status
	 * @return the fault
	 */
	public static Fault ofStatus(int status) {
		return new Fault(FaultKind.STATUS, null, null, null, status);
	}

	/**
	 * Returns a copy that hits some requests only.
	 * @param count how many
	 * @return the copy
	 */
	public Fault times(int count) {
		return new Fault(this.fault, count, this.probability, this.retryAfterSeconds, this.status);
	}

	/**
	 * Returns a copy that sends {@code Retry-After}.
	 * @param seconds the header's value
	 * @return the copy
	 */
	public Fault retryAfter(int seconds) {
		return new Fault(this.fault, this.count, this.probability, seconds, this.status);
	}

	boolean hits(double draw) {
		return this.fault != FaultKind.NONE && (this.probability == null || draw < this.probability);
	}

}
