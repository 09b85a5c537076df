package dev.llmresilience.engine;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import dev.llmresilience.FailureKind;
import org.jspecify.annotations.Nullable;

/**
 * How the calls of a provider entry are made, besides how they are retried. Immutable.
 *
 * @param attemptThread on which thread attempts of blocking calls run
 * @param onOpen what happens to a call that finds the circuit breaker open
 * @param idempotencyKeyHeader the request header that carries the idempotency key, or
 * {@code null} for none; where it is set, a request may be sent again although its
 * outcome is unknown
 * @param firstElementTimeout the time that a stream may take to its first element, or
 * {@code null} for the attempt timeout
 * @param idleTimeout the time that a stream may be silent while elements are asked for,
 * or {@code null} for no limit
 * @param failover the entries that take over a call that has failed for good, in this
 * order
 * @param failoverOn the kinds of failure that they take over after. An open breaker
 * counts as {@link FailureKind#OVERLOADED}, a latch as
 * {@link FailureKind#QUOTA_EXHAUSTED}, and a limiter that cannot let the call out in time
 * as {@link FailureKind#RATE_LIMITED}
 * @param rateLimitEscalateAfter after so many failures on the rate-limit ladder a call
 * fails over instead of being retried, where it can
 */
public record CallSettings(AttemptThread attemptThread, OnOpen onOpen, @Nullable String idempotencyKeyHeader,
		@Nullable Duration firstElementTimeout, @Nullable Duration idleTimeout, List<String> failover,
		Set<FailureKind> failoverOn, int rateLimitEscalateAfter) {

	/** The kinds that fail over unless configured otherwise. */
	public static final Set<FailureKind> FAILOVER_ON = Set
		.copyOf(EnumSet.of(FailureKind.RATE_LIMITED, FailureKind.OVERLOADED, FailureKind.SERVER_ERROR,
				FailureKind.TIMEOUT, FailureKind.CONNECTION, FailureKind.QUOTA_EXHAUSTED));

	/** The built-in values. */
	public static final CallSettings DEFAULTS = new CallSettings(AttemptThread.CALLER, OnOpen.FAIL, null, null, null,
			List.of(), FAILOVER_ON, 3);

	/**
	 * Creates settings.
	 */
	public CallSettings {
		failover = List.copyOf(failover);
		failoverOn = Set.copyOf(failoverOn);
	}

	/**
	 * Returns a copy with other entries that take over.
	 * @param failover their names, in order
	 * @return the copy
	 */
	public CallSettings withFailover(String... failover) {
		return new CallSettings(this.attemptThread, this.onOpen, this.idempotencyKeyHeader, this.firstElementTimeout,
				this.idleTimeout, List.of(failover), this.failoverOn, this.rateLimitEscalateAfter);
	}

	/**
	 * Returns a copy whose blocking attempts run on another thread.
	 * @param attemptThread the thread
	 * @return the copy
	 */
	public CallSettings withAttemptThread(AttemptThread attemptThread) {
		return new CallSettings(attemptThread, this.onOpen, this.idempotencyKeyHeader, this.firstElementTimeout,
				this.idleTimeout, this.failover, this.failoverOn, this.rateLimitEscalateAfter);
	}

	/**
	 * Returns a copy that treats calls at an open breaker otherwise.
	 * @param onOpen what happens to them
	 * @return the copy
	 */
	public CallSettings withOnOpen(OnOpen onOpen) {
		return new CallSettings(this.attemptThread, onOpen, this.idempotencyKeyHeader, this.firstElementTimeout,
				this.idleTimeout, this.failover, this.failoverOn, this.rateLimitEscalateAfter);
	}

	/**
	 * Returns a copy with a header for the idempotency key.
	 * @param header its name, or {@code null} for none
	 * @return the copy
	 */
	public CallSettings withIdempotencyKeyHeader(@Nullable String header) {
		return new CallSettings(this.attemptThread, this.onOpen, header, this.firstElementTimeout, this.idleTimeout,
				this.failover, this.failoverOn, this.rateLimitEscalateAfter);
	}

	/**
	 * Returns a copy with other time limits for streams.
	 * @param firstElement for the first element, or {@code null} for the attempt timeout
	 * @param idle for silence after it, or {@code null} for none
	 * @return the copy
	 */
	public CallSettings withStreamTimeouts(@Nullable Duration firstElement, @Nullable Duration idle) {
		return new CallSettings(this.attemptThread, this.onOpen, this.idempotencyKeyHeader, firstElement, idle,
				this.failover, this.failoverOn, this.rateLimitEscalateAfter);
	}

	/**
	 * Returns a copy for calls that are only observed: they stay on the caller's thread,
	 * carry no key of ours, and no stream of theirs is bounded.
	 * @return the copy
	 */
	CallSettings withoutEffect() {
		return withAttemptThread(AttemptThread.CALLER).withIdempotencyKeyHeader(null).withStreamTimeouts(null, null);
	}

	/**
	 * On which thread attempts of blocking calls run.
	 */
	public enum AttemptThread {

		/**
		 * On the caller's, which is interrupted when the attempt's time is over. A
		 * platform thread that reads from a socket does not heed that.
		 */
		CALLER,

		/**
		 * On another one, which is left behind when the attempt's time is over.
		 */
		WORKER

	}

	/**
	 * What happens to a call that finds the circuit breaker open.
	 */
	public enum OnOpen {

		/** It fails at once. */
		FAIL,

		/** It waits, as long as its time allows, and may become the trial. */
		WAIT

	}

}
