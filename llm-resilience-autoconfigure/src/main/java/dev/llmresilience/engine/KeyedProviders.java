package dev.llmresilience.engine;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;

import dev.llmresilience.breaker.QuotaLatch;
import dev.llmresilience.limiter.LimiterSettings;
import dev.llmresilience.limiter.RateLimiter;
import dev.llmresilience.time.TimeSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The guards of one provider entry's key values: each value has a limiter, a budget, a
 * breaker and latches of its own under the settings of the entry. The values are somebody
 * else's data: they are compared, and never shown.
 * <p>
 * Thread-safe. A value that is there is found without a lock. Invariants: {@code byKey}
 * only changes under {@code lock} and never holds more than {@code maxKeys}; what is
 * taken out of it was evicted before, so that a leased one stays until its last lease
 * ends, and calls of one value share its guards.
 * <p>
 * {@code equals} and {@code hashCode} of the values are somebody else's code, and run
 * under {@code lock} too where a value is new or makes way. One that is slow holds up
 * calls with other values that are new, never those of a value that is there. One that
 * throws fails the call that runs it, and leaves nothing locked or leased. One that waits
 * for a call with a new value waits for ever.
 */
public final class KeyedProviders implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(KeyedProviders.class);

	private volatile ProviderSettings settings;

	/** How each value's limiter paces. */
	private volatile LimiterSettings limiter;

	private final RetrySwitch retries;

	private final int maxKeys;

	private final TimeSource time;

	private final GuardListener listener;

	/** Gives each value the monitor of the entry: a value is never a tag. */
	private final CallMonitor.Factory monitors;

	private final ConcurrentMap<Object, KeyedProvider> byKey = new ConcurrentHashMap<>();

	private final ReentrantLock lock = new ReentrantLock();

	/** What the rate has been set to, if it has been. */
	private @Nullable Double requestsPerMinute;

	private boolean closed;

	private boolean warned;

	KeyedProviders(ProviderSettings settings, LimiterSettings limiter, RetrySwitch retries, int maxKeys,
			TimeSource time, GuardListener listener, CallMonitor.Factory monitors) {
		this.settings = settings;
		this.limiter = limiter;
		this.retries = retries;
		this.maxKeys = maxKeys;
		this.time = time;
		this.listener = listener;
		this.monitors = monitors;
	}

	/**
	 * Gets the guards of a value for one call, after which they have to be
	 * {@linkplain KeyedProvider#release() released}. Where there is no room for another
	 * value, the one that nobody has used for longest makes way; those go last whose
	 * breaker is not closed or whose quota is exhausted, because that would be forgotten.
	 * @param key the value; it needs {@code equals} and {@code hashCode}
	 * @return the guards, or {@code null} if there is no room and all are in use: then
	 * the call is under the guards of the entry itself
	 */
	public @Nullable KeyedProvider lease(Object key) {
		KeyedProvider keyed = this.byKey.get(key);
		return (keyed != null && keyed.lease()) ? keyed : create(key);
	}

	private @Nullable KeyedProvider create(Object key) {
		this.lock.lock();
		try {
			KeyedProvider keyed = this.byKey.get(key);
			if (keyed != null && keyed.lease()) {
				return keyed;
			}
			if (keyed == null && this.byKey.size() >= this.maxKeys && !makeRoom()) {
				warnOnce();
				return null;
			}
			keyed = new KeyedProvider(provider(), this.time);
			keyed.lease();
			this.byKey.put(key, keyed);
			return keyed;
		}
		finally {
			this.lock.unlock();
		}
	}

	private Provider provider() {
		QuotaLatch account = new QuotaLatch(this.settings.account(), this.settings.quotaCoolDown(), this.time,
				this.listener::onTransition);
		Provider provider = new Provider(this.settings, new RateLimiter(this.limiter, this.time), account, this.retries,
				this.time, this.listener, this.monitors);
		if (this.requestsPerMinute != null) {
			provider.limiter().setRequestsPerMinute(this.requestsPerMinute);
		}
		if (this.closed) {
			provider.close();
		}
		return provider;
	}

	private boolean makeRoom() {
		return evictOne(false) || evictOne(true);
	}

	private boolean evictOne(boolean inTrouble) {
		Map.Entry<Object, KeyedProvider> candidate = longestIdle(inTrouble);
		while (candidate != null) {
			if (candidate.getValue().evict()) {
				// Whoever waits holds a lease, so nobody does.
				candidate.getValue().provider().close();
				if (this.byKey.remove(candidate.getKey()) != null) {
					return true;
				}
				// A value whose hash has changed is not found any more, by its calls
				// neither, and keeps its room.
			}
			// Or leased at this very moment, so not idle any more.
			candidate = longestIdle(inTrouble);
		}
		return false;
	}

	private Map.@Nullable Entry<Object, KeyedProvider> longestIdle(boolean inTrouble) {
		Map.Entry<Object, KeyedProvider> found = null;
		long lastUsed = 0;
		for (Map.Entry<Object, KeyedProvider> entry : this.byKey.entrySet()) {
			KeyedProvider keyed = entry.getValue();
			long candidate = keyed.lastUsed();
			if ((found == null || candidate - lastUsed < 0) && keyed.isIdle()
					&& keyed.provider().isInTrouble() == inTrouble) {
				found = entry;
				lastUsed = candidate;
			}
		}
		return found;
	}

	private void warnOnce() {
		if (!this.warned) {
			this.warned = true;
			logger.warn("Calls of all " + this.maxKeys + " key values of '" + this.settings.name()
					+ "' are under way, so that calls of others are under the guards of the entry itself. "
					+ "Set llm.resilience.max-keys higher.");
		}
	}

	/**
	 * Sets the rate of the limiters of all values, those to come included.
	 * @param requestsPerMinute calls a minute, above 0 and finite
	 */
	void setRequestsPerMinute(double requestsPerMinute) {
		this.lock.lock();
		try {
			this.requestsPerMinute = requestsPerMinute;
			this.byKey.values().forEach((keyed) -> keyed.provider().limiter().setRequestsPerMinute(requestsPerMinute));
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Follows other settings, for all values and those to come.
	 * @param settings those of the entry
	 * @param limiter how each value's limiter paces
	 */
	void configure(ProviderSettings settings, LimiterSettings limiter) {
		this.lock.lock();
		try {
			if (!Objects.equals(this.limiter.requestsPerMinute(), limiter.requestsPerMinute())) {
				this.requestsPerMinute = null;
			}
			this.settings = settings;
			this.limiter = limiter;
			for (KeyedProvider keyed : this.byKey.values()) {
				keyed.provider().configure(settings);
				keyed.provider().accountQuota().configure(settings.quotaCoolDown());
				keyed.provider().limiter().configure(limiter);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Lets the calls of all values pass again that an exhausted quota shuts off. */
	void clearLatches() {
		this.byKey.values().forEach((keyed) -> keyed.provider().clearLatches());
	}

	int size() {
		return this.byKey.size();
	}

	/**
	 * Refuses all calls that wait for a slot of a limiter, and all later ones.
	 */
	@Override
	public void close() {
		this.lock.lock();
		try {
			this.closed = true;
			this.byKey.values().forEach((keyed) -> keyed.provider().close());
		}
		finally {
			this.lock.unlock();
		}
	}

}
