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
 * What happened in a call that needed a retry, or failed: its attempts, what they waited
 * for, and why no further one was made. Where the call failed, it travels as a suppressed
 * throwable of the exception that the caller gets, at most one per exception; an
 * {@link LlmCallListener} gets it in any case. Immutable; holds no prompt, answer, key or
 * error text.
 */
public final class LlmCallReport extends Exception {

	@Serial
	private static final long serialVersionUID = 1L;

	private static final int MAX_DEPTH = 32;

	private final String provider;

	private final Attempt[] attempts;

	private final @Nullable GiveUpReason reason;

	private final @Nullable Instant retryAt;

	private final Duration elapsed;

	/**
	 * Creates a report.
	 * @param provider the name of the provider entry
	 * @param attempts the attempts, the first one first
	 * @param reason why the call was given up, or {@code null} if it succeeded
	 * @param retryAt when it makes sense to call again, or {@code null} where unknown
	 * @param elapsed how long the call took, waits included
	 */
	public LlmCallReport(String provider, List<Attempt> attempts, @Nullable GiveUpReason reason,
			@Nullable Instant retryAt, Duration elapsed) {
		super(describe(provider, attempts, reason, retryAt, elapsed), null, false, false);
		this.elapsed = elapsed;
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

	private static String describe(String provider, List<Attempt> attempts, @Nullable GiveUpReason reason,
			@Nullable Instant retryAt, Duration elapsed) {
		StringBuilder text = new StringBuilder();
		text.append("Call to '").append(provider);
		text.append((reason != null) ? "' given up: " + reason : "' succeeded");
		text.append(", attempts: ").append(attempts.size());
		if (!attempts.isEmpty()) {
			text.append(' ').append(attempts);
		}
		text.append(", in ").append(elapsed.toMillis()).append(" ms");
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
	 * The attempts.
	 * @return an immutable list, the first attempt first; empty if no attempt was made
	 */
	public List<Attempt> attempts() {
		return List.of(this.attempts);
	}

	/**
	 * Why the call was given up.
	 * @return the reason, or {@code null} if the call succeeded
	 */
	public @Nullable GiveUpReason reason() {
		return this.reason;
	}

	/**
	 * How long the call took, waits included.
	 * @return the time
	 */
	public Duration elapsed() {
		return this.elapsed;
	}

	/**
	 * When it makes sense to call again, as far as the provider or a guard said.
	 * @return the instant, or {@code null} where unknown
	 */
	public @Nullable Instant retryAt() {
		return this.retryAt;
	}

	/**
	 * The kind of failure that the last attempt met.
	 * @return the kind, or {@code null} if no attempt was made, or it succeeded
	 */
	public @Nullable FailureKind lastKind() {
		return (this.attempts.length == 0) ? null : this.attempts[this.attempts.length - 1].kind();
	}

	/**
	 * What an attempt waited for, apart from its turn at the limiter.
	 */
	public enum WaitCause {

		/** Nothing. */
		NONE,

		/** Its backoff, which is a guess. */
		BACKOFF,

		/** The time at which the server had asked to come back. */
		HINT,

		/** A limiter that paces retries, and knows when to come back. */
		LIMITER,

		/** The circuit breaker, to be let in. */
		BREAKER

	}

	/**
	 * One attempt.
	 *
	 * @param kind what kind of failure it met, or {@code null} if it succeeded
	 * @param status the HTTP status, {@code 0} where there was none
	 * @param code the provider's own code, or {@code null}, also if it does not
	 * {@linkplain LlmFailure#isCode look like one}
	 * @param waitBefore the wait before this attempt, apart from that at the limiter
	 * @param waitCause what most of that wait was for
	 * @param limiterWait how long it then waited in the queue of the limiter
	 */
	public record Attempt(@Nullable FailureKind kind, int status, @Nullable String code, Duration waitBefore,
			WaitCause waitCause, Duration limiterWait) implements Serializable {

		/**
		 * Creates an attempt.
		 */
		public Attempt {
			code = (code != null && LlmFailure.isCode(code)) ? code : null;
		}

		@Override
		public String toString() {
			StringBuilder text = new StringBuilder((this.kind != null) ? this.kind.name() : "OK");
			if (this.status != 0) {
				text.append(' ').append(this.status);
			}
			if (this.code != null) {
				text.append(' ').append(this.code);
			}
			if (!this.waitBefore.isZero()) {
				text.append(" after ").append(this.waitBefore.toMillis()).append(" ms (");
				text.append(this.waitCause).append(')');
			}
			if (!this.limiterWait.isZero()) {
				text.append(" queued ").append(this.limiterWait.toMillis()).append(" ms");
			}
			return text.toString();
		}

	}

}
