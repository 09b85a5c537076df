package dev.llmresilience.engine;

import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.time.TimeSource;

/**
 * The guards of one key value. Whoever gets it from {@link KeyedProviders#lease} makes
 * one call under it and then {@linkplain #release() releases} it, once, on every way out.
 * <p>
 * Thread-safe and lock-free. Invariant: {@code leases} is the number of calls under way,
 * and only changed by compare-and-set; {@link #EVICTED} is reached from zero only and
 * never left, so that what is leased is not evicted and what is evicted not leased.
 */
public final class KeyedProvider {

	private static final int EVICTED = -1;

	private final Provider provider;

	private final TimeSource time;

	private final AtomicInteger leases = new AtomicInteger();

	private volatile long lastUsed;

	KeyedProvider(Provider provider, TimeSource time) {
		this.provider = provider;
		this.time = time;
		this.lastUsed = time.nanoTime();
	}

	/**
	 * The guards, under the name and the settings of the entry.
	 * @return the provider
	 */
	public Provider provider() {
		return this.provider;
	}

	/**
	 * Ends a lease.
	 */
	public void release() {
		this.lastUsed = this.time.nanoTime();
		this.leases.decrementAndGet();
	}

	/**
	 * Takes a lease.
	 * @return {@code false} if this one has been evicted
	 */
	boolean lease() {
		int seen = this.leases.get();
		while (seen != EVICTED) {
			if (this.leases.compareAndSet(seen, seen + 1)) {
				return true;
			}
			seen = this.leases.get();
		}
		return false;
	}

	/** Whether it is neither in use nor gone for good. */
	boolean isIdle() {
		return this.leases.get() == 0;
	}

	/**
	 * Makes sure that nobody leases it any more.
	 * @return {@code false} if somebody does right now
	 */
	boolean evict() {
		return this.leases.compareAndSet(0, EVICTED);
	}

	/** When the last lease ended, on the monotonic clock. */
	long lastUsed() {
		return this.lastUsed;
	}

}
