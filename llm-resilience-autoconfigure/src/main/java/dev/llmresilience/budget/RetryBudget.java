package dev.llmresilience.budget;

import java.util.concurrent.atomic.AtomicLong;

import dev.llmresilience.time.TimeSource;

/**
 * The shared allowance of retries: a token bucket from which each retry takes one token
 * when it is scheduled, which each success refills by a fraction of one, and which
 * trickles on its own. When it is empty, failures are widespread and retrying would only
 * add load, so the failure goes to the caller at once.
 * <p>
 * After the retry budget of Google's "Site Reliability Engineering", chapter "Handling
 * Overload", as a token bucket.
 * <p>
 * Thread-safe and lock-free. Invariant: {@code 0 <= tokens <= capacity} at every moment.
 */
public final class RetryBudget {

	/** Tokens are counted in millionths, so that a tenth of one adds up exactly. */
	private static final long TOKEN = 1_000_000;

	private static final double NANOS_PER_MINUTE = 60e9;

	private final TimeSource time;

	private volatile long capacity;

	private volatile long perSuccess;

	private volatile double perNano;

	private final AtomicLong level;

	/** The moment up to which the trickle has been credited. */
	private final AtomicLong trickledUntil;

	/**
	 * Creates a budget that is full.
	 * @param capacity the most tokens it holds, at least 1
	 * @param refillPerSuccess tokens that a success gives back, at least 0
	 * @param refillPerMinute tokens that trickle in a minute, at least 0
	 * @param time the clock
	 * @throws IllegalArgumentException if a number is out of its range
	 */
	public RetryBudget(double capacity, double refillPerSuccess, double refillPerMinute, TimeSource time) {
		check(capacity, refillPerSuccess, refillPerMinute);
		this.time = time;
		this.capacity = Math.round(capacity * TOKEN);
		this.perSuccess = Math.round(refillPerSuccess * TOKEN);
		this.perNano = refillPerMinute * TOKEN / NANOS_PER_MINUTE;
		this.level = new AtomicLong(this.capacity);
		this.trickledUntil = new AtomicLong(time.nanoTime());
	}

	private static void check(double capacity, double refillPerSuccess, double refillPerMinute) {
		if (!(capacity >= 1) || !(refillPerSuccess >= 0) || !(refillPerMinute >= 0)) {
			throw new IllegalArgumentException("A retry budget needs capacity >= 1, refill-per-success >= 0 and "
					+ "refill-per-minute >= 0, not " + capacity + ", " + refillPerSuccess + ", " + refillPerMinute);
		}
	}

	/**
	 * Changes how much it holds and how it refills. What it holds stays, as far as it
	 * fits.
	 * @param capacity the most tokens it holds, at least 1
	 * @param refillPerSuccess tokens that a success gives back, at least 0
	 * @param refillPerMinute tokens that trickle in a minute, at least 0
	 * @throws IllegalArgumentException if a number is out of its range; nothing has
	 * changed then
	 */
	public void configure(double capacity, double refillPerSuccess, double refillPerMinute) {
		check(capacity, refillPerSuccess, refillPerMinute);
		trickle();
		long most = Math.round(capacity * TOKEN);
		this.capacity = most;
		this.perSuccess = Math.round(refillPerSuccess * TOKEN);
		if (this.perNano == 0) {
			this.trickledUntil.set(this.time.nanoTime());
		}
		this.perNano = refillPerMinute * TOKEN / NANOS_PER_MINUTE;
		this.level.getAndUpdate((level) -> Math.min(level, most));
	}

	/**
	 * Takes one token for a retry.
	 * @return {@code false} if there is none, and then nothing was taken
	 */
	public boolean tryAcquire() {
		trickle();
		long seen = this.level.get();
		while (seen >= TOKEN) {
			if (this.level.compareAndSet(seen, seen - TOKEN)) {
				return true;
			}
			seen = this.level.get();
		}
		return false;
	}

	/**
	 * Gives back the token of a retry that was never made.
	 */
	public void release() {
		add(TOKEN);
	}

	/**
	 * Credits a success.
	 */
	public void onSuccess() {
		// A full budget, the usual case, is only read.
		if (this.perSuccess > 0) {
			add(this.perSuccess);
		}
	}

	/**
	 * The tokens that are left.
	 * @return the number, with its fraction
	 */
	public double tokens() {
		trickle();
		return (double) this.level.get() / TOKEN;
	}

	/**
	 * The most tokens that the budget holds.
	 * @return the number
	 */
	public double capacity() {
		return (double) this.capacity / TOKEN;
	}

	private void trickle() {
		double perNano = this.perNano;
		if (perNano <= 0) {
			return;
		}
		long now = this.time.nanoTime();
		long until = this.trickledUntil.get();
		long earned = (long) ((now - until) * perNano);
		// Only whole millionths are credited, and only the time that earned them is used
		// up.
		if (earned > 0 && this.trickledUntil.compareAndSet(until, until + (long) Math.ceil(earned / perNano))) {
			add(earned);
		}
	}

	private void add(long amount) {
		long seen = this.level.get();
		for (long most = this.capacity; seen < most; most = this.capacity) {
			if (this.level.compareAndSet(seen, Math.min(most, seen + amount))) {
				return;
			}
			seen = this.level.get();
		}
	}

}
