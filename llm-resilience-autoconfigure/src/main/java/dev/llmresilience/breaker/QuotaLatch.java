package dev.llmresilience.breaker;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * Shuts calls off once a quota is known to be exhausted, and lets one probe out per
 * cool-down to see whether it is back. The cool-down doubles with each probe that finds
 * it still exhausted, up to an hour; a probe goes out even when the provider named a
 * later reset, because limits get raised.
 * <p>
 * Thread-safe and lock-free: the state is one immutable object in one reference.
 * Invariant: between two moments {@code nextProbe} at most one permit is a probe, and
 * only a probe can clear the latch.
 */
public final class QuotaLatch {

	/** The longest time between two probes. */
	public static final Duration MAX_COOL_DOWN = Duration.ofHours(1);

	private final String scope;

	private volatile long coolDownNanos;

	private final TimeSource time;

	private final Consumer<QuotaTransition> listener;

	private final AtomicReference<@Nullable Latched> state = new AtomicReference<>();

	private final Permit pass = new Permit(null);

	/**
	 * Creates a latch that lets calls pass.
	 * @param scope what it holds for, for messages: a provider entry or an account
	 * @param coolDown the time between the first probes
	 * @param time the clock
	 * @param listener hears of each transition, on the thread that caused it
	 */
	public QuotaLatch(String scope, Duration coolDown, TimeSource time, Consumer<QuotaTransition> listener) {
		this.scope = scope;
		this.coolDownNanos = coolDown.toNanos();
		this.time = time;
		this.listener = listener;
	}

	/**
	 * Changes the time between the first probes, from the next time on that the quota is
	 * found exhausted.
	 * @param coolDown the time, above zero
	 */
	public void configure(Duration coolDown) {
		this.coolDownNanos = coolDown.toNanos();
	}

	/**
	 * Asks for leave for one attempt.
	 * @return a permit, or {@code null} while calls are shut off
	 */
	public @Nullable Permit tryAcquire() {
		while (true) {
			Latched latched = this.state.get();
			if (latched == null) {
				return this.pass;
			}
			long now = this.time.nanoTime();
			if (now - latched.nextProbe < 0) {
				return null;
			}
			Latched probing = latched.withNextProbe(now + latched.coolDown);
			if (this.state.compareAndSet(latched, probing)) {
				return new Permit(probing);
			}
		}
	}

	/**
	 * Shuts calls off. Already shut off, it stays as it is.
	 * @param code the provider's code, or {@code null}
	 * @param resetAt when the quota comes back as far as the provider said, or
	 * {@code null}
	 */
	public void latch(@Nullable String code, @Nullable Instant resetAt) {
		long now = this.time.nanoTime();
		Latched next = new Latched(code, this.time.now(), resetAt, this.coolDownNanos, now + this.coolDownNanos);
		if (this.state.compareAndSet(null, next)) {
			announce(true, next);
		}
	}

	/**
	 * Lets calls pass again.
	 */
	public void clear() {
		Latched before = this.state.getAndSet(null);
		if (before != null) {
			announce(false, before);
		}
	}

	/**
	 * Whether calls are shut off.
	 * @return whether they are
	 */
	public boolean isLatched() {
		return this.state.get() != null;
	}

	/**
	 * When the quota comes back, as far as the provider said.
	 * @return the instant, or {@code null} where unknown or not latched
	 */
	public @Nullable Instant resetAt() {
		Latched latched = this.state.get();
		return (latched != null) ? latched.resetAt : null;
	}

	/**
	 * When the next probe goes out.
	 * @return the instant, or {@code null} if not latched
	 */
	public @Nullable Instant nextProbeAt() {
		Latched latched = this.state.get();
		return (latched != null) ? at(latched) : null;
	}

	/**
	 * What the latch looks like right now.
	 * @return all of it as of one moment, or {@code null} if not latched
	 */
	public @Nullable QuotaSnapshot snapshot() {
		Latched latched = this.state.get();
		return (latched != null) ? new QuotaSnapshot(latched.code, latched.since, latched.resetAt, at(latched)) : null;
	}

	private void announce(boolean latched, Latched state) {
		this.listener.accept(new QuotaTransition(this.scope, latched, state.code, state.resetAt,
				latched ? at(state) : null, this.time.now()));
	}

	private Instant at(Latched latched) {
		return Instants.later(this.time, latched.nextProbe);
	}

	/**
	 * Leave for one attempt. Only that of a probe changes anything.
	 */
	public final class Permit {

		private final @Nullable Latched probed;

		private Permit(@Nullable Latched probed) {
			this.probed = probed;
		}

		/**
		 * Whether this is the probe that is on its way right now.
		 * @return whether its outcome would still change anything
		 */
		public boolean holdsProbe() {
			Latched probed = this.probed;
			return probed != null && QuotaLatch.this.state.get() == probed;
		}

		/**
		 * The provider served the call.
		 */
		public void success() {
			Latched probed = this.probed;
			if (probed != null && QuotaLatch.this.state.compareAndSet(probed, null)) {
				QuotaLatch.this.announce(false, probed);
			}
		}

		/**
		 * The quota is still exhausted.
		 */
		public void exhausted() {
			Latched probed = this.probed;
			if (probed != null) {
				long doubled = Math.min(MAX_COOL_DOWN.toNanos(), probed.coolDown * 2);
				long now = QuotaLatch.this.time.nanoTime();
				QuotaLatch.this.state.compareAndSet(probed,
						new Latched(probed.code, probed.since, probed.resetAt, doubled, now + doubled));
			}
		}

		/**
		 * The attempt says nothing about the quota, or was never made: the next caller is
		 * the probe.
		 */
		public void neutral() {
			Latched probed = this.probed;
			if (probed != null) {
				QuotaLatch.this.state.compareAndSet(probed, probed.withNextProbe(QuotaLatch.this.time.nanoTime()));
			}
		}

	}

	private static final class Latched {

		final @Nullable String code;

		final Instant since;

		final @Nullable Instant resetAt;

		final long coolDown;

		final long nextProbe;

		Latched(@Nullable String code, Instant since, @Nullable Instant resetAt, long coolDown, long nextProbe) {
			this.code = code;
			this.since = since;
			this.resetAt = resetAt;
			this.coolDown = coolDown;
			this.nextProbe = nextProbe;
		}

		Latched withNextProbe(long nextProbe) {
			return new Latched(this.code, this.since, this.resetAt, this.coolDown, nextProbe);
		}

	}

}
