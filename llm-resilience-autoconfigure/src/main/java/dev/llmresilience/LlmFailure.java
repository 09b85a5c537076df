package dev.llmresilience;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A failure of a call to a model, judged: what kind it is and what the provider said
 * about coming back. Immutable and safe to share. Holds no prompt, answer, key or body
 * text.
 *
 * @param kind what kind of failure it is
 * @param status the HTTP status, {@code 0} where there was none
 * @param code the provider's own code (such as {@code enforced_spend_limit_reached}), or
 * {@code null}, also if it does not {@linkplain #isCode look like one}
 * @param hint when the server said to come back, as a duration from now, never negative;
 * {@code null} where it said nothing that could be read
 * @param verdict the server's explicit word on retrying, which beats the kind
 * @param sent whether the request may have reached the provider; only
 * {@link FailureKind#CONNECTION} failures can be known not to have been sent
 * @param maxRetries how many retries this particular failure deserves at most, however
 * many its ladder has left; {@link Integer#MAX_VALUE} for no limit of its own
 * @param latch which calls a structured quota code shuts off
 * @param resetAt when an exhausted quota comes back as far as the provider said, or
 * {@code null}
 * @param limits what the response said about the provider's limits, at most one of each
 * dimension; empty where it said nothing that could be read
 */
public record LlmFailure(FailureKind kind, int status, @Nullable String code, @Nullable Duration hint, Verdict verdict,
		boolean sent, int maxRetries, LatchScope latch, @Nullable Instant resetAt, List<RateLimitSnapshot> limits) {

	/** Neither a sentence nor a key. */
	private static final Pattern CODE = Pattern.compile("[A-Za-z_.:-]{1,64}|[0-9]{1,6}");

	/**
	 * Creates a failure.
	 */
	public LlmFailure {
		code = (code != null && isCode(code)) ? code : null;
		limits = List.copyOf(limits);
	}

	/**
	 * Whether a text looks like a code, and so may be shown: words without a digit in
	 * them, or a short number. What else stands where an error has its code may be
	 * anything.
	 * @param text the text
	 * @return whether it looks like one
	 */
	public static boolean isCode(String text) {
		return CODE.matcher(text).matches();
	}

	/**
	 * Creates a failure of the given kind with nothing else known: no status, no hint,
	 * the request taken for sent, no limit of its own on retries.
	 * @param kind the kind
	 * @return the failure
	 */
	public static LlmFailure of(FailureKind kind) {
		return new LlmFailure(kind, 0, null, null, Verdict.NONE, true, Integer.MAX_VALUE, LatchScope.NONE, null,
				List.of());
	}

	/**
	 * Returns a copy of another kind.
	 * @param kind the kind
	 * @return the copy
	 */
	public LlmFailure withKind(FailureKind kind) {
		return new LlmFailure(kind, this.status, this.code, this.hint, this.verdict, this.sent, this.maxRetries,
				this.latch, this.resetAt, this.limits);
	}

	/**
	 * Returns a copy with an HTTP status.
	 * @param status the status, {@code 0} for none
	 * @return the copy
	 */
	public LlmFailure withStatus(int status) {
		return new LlmFailure(this.kind, status, this.code, this.hint, this.verdict, this.sent, this.maxRetries,
				this.latch, this.resetAt, this.limits);
	}

	/**
	 * Returns a copy with the provider's own code.
	 * @param code the code, or {@code null}
	 * @return the copy
	 */
	public LlmFailure withCode(@Nullable String code) {
		return new LlmFailure(this.kind, this.status, code, this.hint, this.verdict, this.sent, this.maxRetries,
				this.latch, this.resetAt, this.limits);
	}

	/**
	 * Returns a copy with a hint.
	 * @param hint the duration from now, or {@code null}
	 * @return the copy
	 * @throws IllegalArgumentException if the hint is negative
	 */
	public LlmFailure withHint(@Nullable Duration hint) {
		if (hint != null && hint.isNegative()) {
			throw new IllegalArgumentException("A hint must not be negative: " + hint);
		}
		return new LlmFailure(this.kind, this.status, this.code, hint, this.verdict, this.sent, this.maxRetries,
				this.latch, this.resetAt, this.limits);
	}

	/**
	 * Returns a copy with an explicit word on retrying.
	 * @param verdict the verdict
	 * @return the copy
	 */
	public LlmFailure withVerdict(Verdict verdict) {
		return new LlmFailure(this.kind, this.status, this.code, this.hint, verdict, this.sent, this.maxRetries,
				this.latch, this.resetAt, this.limits);
	}

	/**
	 * Returns a copy that says whether the request may have been sent.
	 * @param sent whether it may have been
	 * @return the copy
	 */
	public LlmFailure withSent(boolean sent) {
		return new LlmFailure(this.kind, this.status, this.code, this.hint, this.verdict, sent, this.maxRetries,
				this.latch, this.resetAt, this.limits);
	}

	/**
	 * Returns a copy with a limit of its own on retries.
	 * @param maxRetries the most retries
	 * @return the copy
	 */
	public LlmFailure withMaxRetries(int maxRetries) {
		return new LlmFailure(this.kind, this.status, this.code, this.hint, this.verdict, this.sent, maxRetries,
				this.latch, this.resetAt, this.limits);
	}

	/**
	 * Returns a copy that shuts off later calls.
	 * @param latch which calls
	 * @param resetAt when the quota comes back, or {@code null} where unknown
	 * @return the copy
	 */
	public LlmFailure withLatch(LatchScope latch, @Nullable Instant resetAt) {
		return new LlmFailure(this.kind, this.status, this.code, this.hint, this.verdict, this.sent, this.maxRetries,
				latch, resetAt, this.limits);
	}

	/**
	 * Returns a copy with what the response said about the provider's limits.
	 * @param limits at most one snapshot of each dimension, empty for none
	 * @return the copy
	 */
	public LlmFailure withLimits(List<RateLimitSnapshot> limits) {
		return new LlmFailure(this.kind, this.status, this.code, this.hint, this.verdict, this.sent, this.maxRetries,
				this.latch, this.resetAt, limits);
	}

	/**
	 * Whether the request may have taken effect although it failed, so that repeating it
	 * could do its work twice.
	 * @return {@code true} for a timeout, and for a connection that broke after sending
	 */
	public boolean outcomeUnknown() {
		return this.kind == FailureKind.TIMEOUT || (this.kind == FailureKind.CONNECTION && this.sent);
	}

	/**
	 * An explicit word on retrying, from the server ({@code x-should-retry}) or from the
	 * caller ({@code retryOn}, {@code noRetryOn}).
	 */
	public enum Verdict {

		/** Nothing was said: the kind decides. */
		NONE,

		/** Retry, even where the kind would not. */
		RETRY,

		/** Do not retry, even where the kind would. */
		NO_RETRY

	}

	/**
	 * Which calls an exhausted quota shuts off. Only a structured code shuts anything
	 * off; text alone merely means that this call is not retried.
	 */
	public enum LatchScope {

		/** No call. */
		NONE,

		/** Calls of the same provider entry: a daily or per-model quota. */
		PROVIDER,

		/** Calls of every entry that the same account pays for. */
		ACCOUNT

	}

}
