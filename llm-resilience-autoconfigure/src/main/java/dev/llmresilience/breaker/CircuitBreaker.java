package dev.llmresilience.breaker;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

import dev.llmresilience.FailureKind;
import dev.llmresilience.breaker.Generation.Closed;
import dev.llmresilience.breaker.Generation.Forced;
import dev.llmresilience.breaker.Generation.HalfOpen;
import dev.llmresilience.breaker.Generation.Open;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * Stops calls to a provider that is dead, and finds out with one trial call at a time
 * when it is back.
 * <p>
 * Each admitted attempt holds a {@link Permit} and reports its outcome to it exactly
 * once: {@link Permit#success success}, {@link Permit#failure failure} or
 * {@link Permit#neutral neutral}.
 * <p>
 * Thread-safe and lock-free: the whole state is one immutable-by-identity object in one
 * reference, and every transition is one compare-and-set of it. Invariants: at most one
 * trial is in flight; a permit knows the state object under which it was given, and once
 * that is no longer the current one, what the permit reports changes nothing.
 */
public final class CircuitBreaker {

	private static final double OPEN_JITTER = 0.1;

	private static final VarHandle STATE;

	static {
		try {
			STATE = MethodHandles.lookup().findVarHandle(CircuitBreaker.class, "state", Generation.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	private final String name;

	private volatile BreakerSettings settings;

	private final TimeSource time;

	private final Consumer<BreakerTransition> listener;

	private volatile long slowNanos;

	private volatile Generation state;

	private final LongAdder rejected = new LongAdder();

	private volatile @Nullable LastFailure lastFailure;

	private volatile Runnable watcher = () -> {
	};

	/**
	 * Creates a closed breaker.
	 * @param name the name of the provider entry, for messages
	 * @param settings when it opens, and for how long
	 * @param time clock and randomness
	 * @param listener hears of each transition, on the thread that caused it
	 */
	public CircuitBreaker(String name, BreakerSettings settings, TimeSource time,
			Consumer<BreakerTransition> listener) {
		this.name = name;
		this.settings = settings;
		this.time = time;
		this.listener = listener;
		this.slowNanos = slowNanos(settings);
		this.state = new Closed(this, this.settings);
	}

	private static long slowNanos(BreakerSettings settings) {
		Duration slow = settings.slowCallDuration();
		return (slow != null) ? slow.toNanos() : Long.MAX_VALUE;
	}

	/**
	 * Changes when it opens and for how long. Its state and its counts stay; of attempts
	 * in flight nothing is lost. One that is open stays so for as long as it was to.
	 * @param settings what holds from now on
	 */
	public void configure(BreakerSettings settings) {
		this.settings = settings;
		this.slowNanos = slowNanos(settings);
		if (this.state instanceof Closed closed) {
			closed.counter = closed.counter.with(settings);
		}
	}

	/**
	 * Whether a call would be refused right now. Takes nothing.
	 * @return {@code true} if {@link #tryAcquire()} would refuse
	 */
	public boolean refuses() {
		Generation current = this.state;
		return !(current instanceof Closed) && current.refuses(this.time.nanoTime());
	}

	/**
	 * Whether a call would still be refused at a later moment, as far as is known now.
	 * @param nanoTime the moment, on the monotonic clock
	 * @return {@code false} too where it depends on a trial in flight
	 */
	public boolean refusesUntil(long nanoTime) {
		Generation current = this.state;
		return !(current instanceof HalfOpen) && current.refuses(nanoTime);
	}

	/**
	 * Has somebody told of each change, also of one that does not show as another state:
	 * a trial that ended without a verdict. It is told on the thread that caused the
	 * change, once the change can be seen, and before anybody else is, so that nothing
	 * that the listener does can keep the word from it.
	 * @param watcher is told, in place of whoever was told before; it must be short and
	 * must not throw
	 */
	void watch(Runnable watcher) {
		this.watcher = watcher;
	}

	Generation generation() {
		return this.state;
	}

	long trialTimeoutNanos() {
		return this.settings.trialTimeout().toNanos();
	}

	/**
	 * Whether attempts have to report how long they took.
	 * @return whether slow calls count
	 */
	public boolean measuresDuration() {
		return this.slowNanos != Long.MAX_VALUE;
	}

	/**
	 * Asks for a permit for one attempt.
	 * @return the permit, or {@code null} if the call is refused
	 */
	public @Nullable Permit tryAcquire() {
		while (true) {
			Generation current = this.state;
			if (current instanceof Closed closed) {
				return closed.permit;
			}
			if (current.refuses(this.time.nanoTime())) {
				this.rejected.increment();
				return null;
			}
			Generation next = current.withTrial(this.time.nanoTime() + this.settings.trialTimeout().toNanos());
			if (next == current || move(current, next)) {
				return next.permit;
			}
		}
	}

	/**
	 * Counts a call that was refused without asking for a permit.
	 */
	public void onRejected() {
		this.rejected.increment();
	}

	/**
	 * When the next trial call may go out.
	 * @return the instant, or {@code null} where none is due
	 */
	public @Nullable Instant nextTrialAt() {
		return (this.state instanceof Open open) ? at(open.until) : null;
	}

	/**
	 * The state that shows: an open breaker whose time is over is still open until a call
	 * asks for the trial.
	 * @return the state
	 */
	public BreakerState state() {
		return this.state.kind();
	}

	/**
	 * Takes a picture of the breaker.
	 * @return the snapshot
	 */
	public BreakerSnapshot snapshot() {
		Generation current = this.state;
		Instant openedAt = (current instanceof Open open) ? open.openedAt : (current instanceof HalfOpen halfOpen)
				? halfOpen.before.openedAt
				: (current instanceof Forced forced && forced.kind() == BreakerState.FORCED_OPEN) ? forced.since : null;
		boolean trial = current instanceof HalfOpen halfOpen && halfOpen.trialInFlight;
		Instant nextTrialAt = (current instanceof Open open) ? at(open.until) : null;
		return new BreakerSnapshot(current.kind(), current.failures(), this.settings.failureThreshold(), openedAt,
				nextTrialAt, trial, this.rejected.sum(), this.lastFailure);
	}

	/**
	 * Closes the breaker, whatever its state, and clears all counts.
	 */
	public void close() {
		force(new Closed(this, this.settings));
	}

	/**
	 * Opens the breaker until an operator says otherwise.
	 */
	public void forceOpen() {
		force(new Forced(this, BreakerState.FORCED_OPEN, this.time.now()));
	}

	/**
	 * Lets all calls pass uncounted until an operator says otherwise.
	 */
	public void disable() {
		force(new Forced(this, BreakerState.DISABLED, this.time.now()));
	}

	private void force(Generation next) {
		changed((Generation) STATE.getAndSet(this, next), next);
	}

	private void onSuccess(Generation origin, long durationNanos) {
		if (durationNanos > this.slowNanos) {
			onFailure(origin, FailureKind.TIMEOUT, 0, 0);
		}
		else if (origin instanceof Closed closed) {
			closed.counter.success();
		}
		else if (origin instanceof HalfOpen) {
			move(origin, new Closed(this, this.settings));
		}
	}

	private void onFailure(Generation origin, FailureKind kind, int status, long hintNanos) {
		if (this.state != origin || origin instanceof Forced) {
			return;
		}
		this.lastFailure = new LastFailure(kind, status, this.time.now());
		if (origin instanceof Closed closed) {
			if (closed.counter.failure()) {
				move(origin, open(1, closed.counter.consecutive(), this.time.now(), hintNanos));
			}
		}
		else if (origin instanceof HalfOpen halfOpen) {
			Open before = halfOpen.before;
			move(origin, open(before.times + 1, before.failures + 1, before.openedAt, hintNanos));
		}
	}

	private void onNeutral(Generation origin) {
		if (origin instanceof HalfOpen halfOpen) {
			move(origin, new HalfOpen(this, halfOpen.before, false, 0));
		}
	}

	private boolean move(Generation from, Generation to) {
		if (!STATE.compareAndSet(this, from, to)) {
			return false;
		}
		changed(from, to);
		return true;
	}

	private void changed(Generation from, Generation to) {
		if (to instanceof Closed closed) {
			// The settings may have changed since it was made.
			closed.counter = closed.counter.with(this.settings);
		}
		this.watcher.run();
		if (from.kind() != to.kind()) {
			announce(from, to);
		}
	}

	private void announce(Generation from, Generation to) {
		if (to instanceof Closed) {
			this.rejected.reset();
		}
		Instant nextTrialAt = (to instanceof Open open) ? at(open.until) : null;
		LastFailure cause = (to instanceof Open) ? this.lastFailure : null;
		this.listener
			.accept(new BreakerTransition(this.name, from.kind(), to.kind(), this.time.now(), nextTrialAt, cause));
	}

	private Open open(int times, int failures, Instant openedAt, long hintNanos) {
		double doubled = this.settings.openDuration().toNanos() * Math.pow(2, times - 1.0);
		double duration = Math.min((double) this.settings.maxOpenDuration().toNanos(), doubled);
		long jittered = (long) (duration * (1 + OPEN_JITTER * this.time.random()));
		return new Open(this, times, failures, openedAt, this.time.nanoTime() + Math.max(jittered, hintNanos));
	}

	private Instant at(long nanoTime) {
		return Instants.later(this.time, nanoTime);
	}

	/**
	 * Leave for one attempt. Report exactly one outcome; any further report, and one that
	 * comes after the breaker has moved on, changes nothing.
	 */
	public final class Permit {

		private final Generation origin;

		Permit(Generation origin) {
			this.origin = origin;
		}

		/**
		 * The provider answered.
		 */
		public void success() {
			success(0);
		}

		/**
		 * The provider answered.
		 * @param durationNanos how long it took, in nanoseconds
		 */
		public void success(long durationNanos) {
			CircuitBreaker.this.onSuccess(this.origin, durationNanos);
		}

		/**
		 * The provider failed.
		 * @param kind what kind of failure it was
		 * @param status the HTTP status, {@code 0} where there was none
		 * @param hintNanos how long the server asked to be left alone, in nanoseconds;
		 * {@code 0} where it did not
		 */
		public void failure(FailureKind kind, int status, long hintNanos) {
			CircuitBreaker.this.onFailure(this.origin, kind, status, hintNanos);
		}

		/**
		 * The attempt says nothing about the provider, or was never made: the place is
		 * free again.
		 */
		public void neutral() {
			CircuitBreaker.this.onNeutral(this.origin);
		}

		/**
		 * Whether this is the trial that decides about an open breaker.
		 * @return whether it is
		 */
		public boolean isTrial() {
			return this.origin instanceof HalfOpen;
		}

		/**
		 * Whether this is the trial that is in flight right now.
		 * @return whether its outcome would still change anything
		 */
		public boolean holdsTrial() {
			return this.origin instanceof HalfOpen halfOpen && halfOpen.trialInFlight
					&& CircuitBreaker.this.state == halfOpen;
		}

	}

}
