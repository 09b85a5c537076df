package dev.llmresilience.engine;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Notices that a provider entry has gone over to another API key, for which nothing holds
 * that was learnt under the one before. An entry whose calls use several keys in turn has
 * not changed its key, and one that signs each request anew never had one.
 * <p>
 * Thread-safe. Keys are known by a hash only, which is never shown. Invariant: all of it
 * is only touched under {@code lock}.
 */
final class KeyChange {

	/** How long a key is in use before another one can be its successor. */
	private static final long SETTLED_NANOS = 10_000_000_000L;

	/** How late the answer to a request with the former key may be. */
	private static final long LATE_NANOS = 600_000_000_000L;

	/** An entry that has used more is taken to use them in turn. */
	private static final int MOST = 16;

	private final ReentrantLock lock = new ReentrantLock();

	/** The keys before, and when each was succeeded. */
	private final Map<Integer, Long> former = new HashMap<>();

	private int current;

	private boolean known;

	private boolean several;

	private long since;

	private long last;

	/**
	 * Takes note of the key of a request.
	 * @param hash the key's hash
	 * @param now the clock
	 * @return whether the entry has gone over to this key
	 */
	boolean used(int hash, long now) {
		this.lock.lock();
		try {
			if (this.several) {
				return false;
			}
			if (hash == this.current && this.known) {
				this.last = now;
				return false;
			}
			Long succeeded = this.former.get(hash);
			if (succeeded != null && now - succeeded < LATE_NANOS) {
				// The answer to a request from before the change.
				return false;
			}
			boolean settled = this.known && this.last - this.since >= SETTLED_NANOS;
			this.several = succeeded != null || this.former.size() >= MOST;
			if (this.known) {
				this.former.put(this.current, now);
			}
			this.known = true;
			this.current = hash;
			this.since = now;
			this.last = now;
			return settled && !this.several;
		}
		finally {
			this.lock.unlock();
		}
	}

}
