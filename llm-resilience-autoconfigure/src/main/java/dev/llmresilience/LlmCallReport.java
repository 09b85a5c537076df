package dev.llmresilience;

import java.io.Serial;
import java.io.Serializable;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * What happened in a call that failed: its attempts, and why no further one was made.
 * Travels as a suppressed throwable of the exception that the caller gets, at most one
 * per exception. Immutable; holds no prompt, answer, key or error text.
 */
public final class LlmCallReport extends Exception {

	@Serial
	private static final long serialVersionUID = 1L;

	private static final int MAX_DEPTH = 32;

	private final String provider;

	private final Attempt[] attempts;

	private final GiveUpReason reason;

	private final @Nullable Instant retryAt;

	/**
	 * Creates a report.
	 * @param provider the name of the provider entry
	 * @param attempts the failed attempts, the first one first
	 * @param reason why the call was given up
	 * @param retryAt when it makes sense to call again, or {@code null} where unknown
	 */
	public LlmCallReport(String provider, List<Attempt> attempts, GiveUpReason reason, @Nullable Instant retryAt) {
		super(describe(provider, attempts, reason, retryAt), null, false, false);
		this.provider = provider;
		this.attempts = attempts.toArray(Attempt[]::new);
		this.reason = reason;
		this.retryAt = retryAt;
	}

	/**
	 * Finds the report that is attached to an exception, or to one of its causes.
	 * @param thrown the exception
	 * @return the report, or {@code null} if there is none
	 */
	public static @Nullable LlmCallReport find(@Nullable Throwable thrown) {
		Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
		for (Throwable t = thrown; t != null && seen.size() < MAX_DEPTH && seen.add(t); t = t.getCause()) {
			for (Throwable suppressed : t.getSuppressed()) {
				if (suppressed instanceof LlmCallReport report) {
					return report;
				}
			}
		}
		return null;
	}

	private static String describe(String provider, List<Attempt> attempts, GiveUpReason reason,
			@Nullable Instant retryAt) {
		StringBuilder text = new StringBuilder();
		text.append("Call to '").append(provider).append("' given up: ").append(reason);
		text.append(", failed attempts: ").append(attempts.size());
		if (!attempts.isEmpty()) {
			text.append(' ').append(attempts);
		}
		if (retryAt != null) {
			text.append(", retry at ").append(retryAt);
		}
		return text.toString();
	}

	/**
	 * The provider entry that was called.
	 * @return the name
	 */
	public String provider() {
		return this.provider;
	}

	/**
	 * The failed attempts.
	 * @return an immutable list, the first attempt first; empty if no attempt was made
	 */
	public List<Attempt> attempts() {
		return List.of(this.attempts);
	}

	/**
	 * Why the call was given up.
	 * @return the reason
	 */
	public GiveUpReason reason() {
		return this.reason;
	}

	/**
	 * When it makes sense to call again, as far as the provider or a guard said.
	 * @return the instant, or {@code null} where unknown
	 */
	public @Nullable Instant retryAt() {
		return this.retryAt;
	}

	/**
	 * The kind of the last failure.
	 * @return the kind, or {@code null} if no attempt was made
	 */
	public @Nullable FailureKind lastKind() {
		return (this.attempts.length == 0) ? null : this.attempts[this.attempts.length - 1].kind();
	}

	/**
	 * One failed attempt.
	 *
	 * @param kind what kind of failure it met
	 * @param status the HTTP status, {@code 0} where there was none
	 * @param code the provider's own code, or {@code null}
	 * @param waitBefore the backoff before this attempt; zero for the first
	 */
	public record Attempt(FailureKind kind, int status, @Nullable String code,
			Duration waitBefore) implements Serializable {

		@Override
		public String toString() {
			StringBuilder text = new StringBuilder(this.kind.name());
			if (this.status != 0) {
				text.append(' ').append(this.status);
			}
			if (this.code != null) {
				text.append(' ').append(this.code);
			}
			if (!this.waitBefore.isZero()) {
				text.append(" after ").append(this.waitBefore.toMillis()).append(" ms");
			}
			return text.toString();
		}

	}

}
