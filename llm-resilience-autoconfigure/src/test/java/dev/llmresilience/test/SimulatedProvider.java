package dev.llmresilience.test;

import java.io.Serial;
import java.time.Duration;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.failure.FailureClassifier;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * A provider in virtual time that serves what its token bucket holds and turns the rest
 * away with a 429, the way Anthropic documents its limits: the bucket refills all the
 * time, and {@code Retry-After} is in whole seconds.
 */
public final class SimulatedProvider {

	private final TimeSource time;

	private final double perSecond;

	private final double burst;

	private final Duration there;

	private final Duration back;

	private double tokens;

	private long refilledAt;

	private int requests;

	private int rejected;

	/**
	 * Creates a provider whose bucket is full.
	 * @param time the simulated time
	 * @param perSecond requests that the bucket regains in a second
	 * @param burst requests that the bucket holds
	 * @param there the longest way to the provider; each request draws its own
	 * @param back the longest way back; each answer draws its own
	 */
	public SimulatedProvider(TimeSource time, double perSecond, double burst, Duration there, Duration back) {
		this.time = time;
		this.perSecond = perSecond;
		this.burst = burst;
		this.refilledAt = time.nanoTime();
		this.there = there;
		this.back = back;
		this.tokens = burst;
	}

	/**
	 * Makes a request on a simulated thread.
	 * @return the answer
	 * @throws StatusException if it is turned away
	 */
	public String request() {
		travel(this.there);
		int retryAfter = arrive();
		travel(this.back);
		if (retryAfter > 0) {
			throw new StatusException(429, Duration.ofSeconds(retryAfter));
		}
		return "answer";
	}

	private void travel(Duration longest) {
		if (longest.isZero()) {
			return;
		}
		try {
			this.time.waiter().await((long) (longest.toNanos() * this.time.random()));
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException("Interrupted on the way", ex);
		}
	}

	/** Whole seconds until there is a token, 0 if one was taken. */
	private int arrive() {
		long now = this.time.nanoTime();
		this.tokens = Math.min(this.burst, this.tokens + (now - this.refilledAt) / 1e9 * this.perSecond);
		this.refilledAt = now;
		this.requests++;
		if (this.tokens >= 1) {
			this.tokens--;
			return 0;
		}
		this.rejected++;
		return (int) Math.ceil((1 - this.tokens) / this.perSecond);
	}

	/**
	 * How many requests have arrived.
	 * @return the number
	 */
	public int requests() {
		return this.requests;
	}

	/**
	 * How many of them were turned away.
	 * @return the number
	 */
	public int rejected() {
		return this.rejected;
	}

	/**
	 * Judges failures by their status alone.
	 * @param readsRetryAfter whether the hint is taken from {@code Retry-After}
	 * @return the classifier
	 */
	public static FailureClassifier classifier(boolean readsRetryAfter) {
		return (thrown, context) -> {
			if (context.interrupted() || thrown instanceof InterruptedException
					|| thrown.getCause() instanceof InterruptedException) {
				return LlmFailure.of(FailureKind.CANCELLED);
			}
			if (!(thrown instanceof StatusException answer)) {
				return null;
			}
			return LlmFailure.of(kind(answer.status()))
				.withStatus(answer.status())
				.withHint(readsRetryAfter ? answer.retryAfter() : null);
		};
	}

	private static FailureKind kind(int status) {
		return switch (status) {
			case 429 -> FailureKind.RATE_LIMITED;
			case 503, 529 -> FailureKind.OVERLOADED;
			case 408, 502, 504 -> FailureKind.TIMEOUT;
			case 409 -> FailureKind.CONFLICT;
			case 413 -> FailureKind.TOO_LARGE;
			case 401, 403 -> FailureKind.UNAUTHORIZED;
			case 400, 404, 422 -> FailureKind.INVALID_REQUEST;
			default -> FailureKind.SERVER_ERROR;
		};
	}

	/** What a client throws for an answer that is not a success. */
	public static final class StatusException extends RuntimeException {

		@Serial
		private static final long serialVersionUID = 1L;

		private final int status;

		private final @Nullable Duration retryAfter;

		/**
		 * Creates the exception.
		 * @param status the HTTP status
		 * @param retryAfter when the server said to come back, or {@code null}
		 */
		public StatusException(int status, @Nullable Duration retryAfter) {
			super("HTTP " + status);
			this.status = status;
			this.retryAfter = retryAfter;
		}

		/**
		 * The HTTP status.
		 * @return the status
		 */
		public int status() {
			return this.status;
		}

		/**
		 * When the server said to come back.
		 * @return the duration, or {@code null}
		 */
		public @Nullable Duration retryAfter() {
			return this.retryAfter;
		}

	}

}
