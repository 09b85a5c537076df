package dev.llmresilience.breaker;

import java.time.Instant;

import dev.llmresilience.breaker.CircuitBreaker.Permit;

/**
 * The state of a circuit breaker from one transition to the next. It is compared by
 * identity: a permit belongs to the generation in which it was given, and reports in vain
 * once that is over. Immutable but for the counter of a closed one.
 */
abstract sealed class Generation {

	/** What its attempts get; they can share it, as it holds nothing of their own. */
	final Permit permit;

	private Generation(CircuitBreaker breaker) {
		this.permit = breaker.new Permit(this);
	}

	abstract BreakerState kind();

	/**
	 * Whether a call is refused.
	 * @param now the monotonic clock
	 */
	abstract boolean refuses(long now);

	/**
	 * The generation that follows when a call that is not refused is let out.
	 * @param trialUntil how long a trial would hold its place, on the monotonic clock
	 */
	Generation withTrial(long trialUntil) {
		return this;
	}

	/**
	 * When it stops to refuse if nothing happens until then.
	 * @param never the answer if it does not by itself
	 */
	long refusesUntil(long never) {
		return never;
	}

	/** Failures since the last success. */
	int failures() {
		return 0;
	}

	static final class Closed extends Generation {

		volatile FailureCounter counter;

		Closed(CircuitBreaker breaker, BreakerSettings settings) {
			super(breaker);
			this.counter = new FailureCounter(settings);
		}

		@Override
		BreakerState kind() {
			return BreakerState.CLOSED;
		}

		@Override
		boolean refuses(long now) {
			return false;
		}

		@Override
		int failures() {
			return this.counter.consecutive();
		}

	}

	static final class Open extends Generation {

		private final CircuitBreaker breaker;

		/** How many times in a row, this one included. */
		final int times;

		final int failures;

		final Instant openedAt;

		/** When a trial is due, on the monotonic clock. */
		final long until;

		Open(CircuitBreaker breaker, int times, int failures, Instant openedAt, long until) {
			super(breaker);
			this.breaker = breaker;
			this.times = times;
			this.failures = failures;
			this.openedAt = openedAt;
			this.until = until;
		}

		@Override
		BreakerState kind() {
			return BreakerState.OPEN;
		}

		@Override
		boolean refuses(long now) {
			return now - this.until < 0;
		}

		@Override
		long refusesUntil(long never) {
			return this.until;
		}

		@Override
		Generation withTrial(long trialUntil) {
			return new HalfOpen(this.breaker, this, true, trialUntil);
		}

		@Override
		int failures() {
			return this.failures;
		}

	}

	static final class HalfOpen extends Generation {

		final Open before;

		final boolean trialInFlight;

		private final long trialUntil;

		HalfOpen(CircuitBreaker breaker, Open before, boolean trialInFlight, long trialUntil) {
			super(breaker);
			this.before = before;
			this.trialInFlight = trialInFlight;
			this.trialUntil = trialUntil;
		}

		@Override
		BreakerState kind() {
			return BreakerState.HALF_OPEN;
		}

		@Override
		boolean refuses(long now) {
			return this.trialInFlight && now - this.trialUntil < 0;
		}

		@Override
		long refusesUntil(long never) {
			return this.trialUntil;
		}

		@Override
		Generation withTrial(long trialUntil) {
			return this.before.withTrial(trialUntil);
		}

		@Override
		int failures() {
			return this.before.failures;
		}

	}

	static final class Forced extends Generation {

		private final BreakerState kind;

		final Instant since;

		Forced(CircuitBreaker breaker, BreakerState kind, Instant since) {
			super(breaker);
			this.kind = kind;
			this.since = since;
		}

		@Override
		BreakerState kind() {
			return this.kind;
		}

		@Override
		boolean refuses(long now) {
			return this.kind == BreakerState.FORCED_OPEN;
		}

	}

}
