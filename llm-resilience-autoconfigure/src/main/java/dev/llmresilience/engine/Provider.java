package dev.llmresilience.engine;

import java.util.concurrent.locks.ReentrantLock;

import dev.llmresilience.breaker.BreakerState;
import dev.llmresilience.breaker.BreakerTransition;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.breaker.QuotaLatch;
import dev.llmresilience.breaker.WaitingRoom;
import dev.llmresilience.budget.RetryBudget;
import dev.llmresilience.engine.CallSettings.OnOpen;
import dev.llmresilience.engine.ProviderSettings.BudgetSettings;
import dev.llmresilience.limiter.RateLimiter;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * A provider entry at work: its settings and the guards that all of its calls share.
 * Thread-safe.
 */
public final class Provider {

	private volatile ProviderSettings settings;

	private volatile CallOptions options;

	private final RateLimiter limiter;

	private final @Nullable RetryBudget budget;

	private final @Nullable CircuitBreaker breaker;

	/** Where calls wait for the breaker, unless they fail when it is open. */
	private final @Nullable WaitingRoom room;

	private final QuotaLatch quota;

	private final QuotaLatch accountQuota;

	private final GuardListener listener;

	private final TimeSource time;

	private final RetrySwitch retries;

	private final CallMonitor.Factory monitors;

	private final KeyChange keyChange = new KeyChange();

	private volatile boolean used;

	/** Sees to it that the monitor is made once. */
	private final ReentrantLock lock = new ReentrantLock();

	private volatile @Nullable CallMonitor monitor;

	/**
	 * Creates the guards of a provider entry.
	 * @param settings what the entry is configured with
	 * @param accountQuota the latch that it shares with the entries of its account
	 * @param time the time source of its engine
	 * @param listener hears of each transition of its guards
	 */
	public Provider(ProviderSettings settings, QuotaLatch accountQuota, TimeSource time, GuardListener listener) {
		this(settings, new RateLimiter(settings.limiter(), time), accountQuota, new RetrySwitch(), time, listener,
				CallMonitor.Factory.NONE);
	}

	/**
	 * Creates the guards of a provider entry, but for its limiter.
	 * @param settings what the entry is configured with
	 * @param limiter paces its calls, and perhaps those of other entries
	 * @param accountQuota the latch that it shares with the entries of its account
	 * @param retries whether its calls are retried
	 * @param time the time source of its engine
	 * @param listener hears of each transition of its guards
	 * @param monitors makes what counts its calls
	 */
	Provider(ProviderSettings settings, RateLimiter limiter, QuotaLatch accountQuota, RetrySwitch retries,
			TimeSource time, GuardListener listener, CallMonitor.Factory monitors) {
		this.settings = settings;
		this.options = CallOptions.of(settings.policy());
		this.limiter = limiter;
		BudgetSettings budget = settings.budget();
		this.budget = (budget != null)
				? new RetryBudget(budget.capacity(), budget.refillPerSuccess(), budget.refillPerMinute(), time) : null;
		this.breaker = (settings.breaker() != null)
				? new CircuitBreaker(settings.name(), settings.breaker(), time, this::onTransition) : null;
		this.room = (this.breaker != null && settings.calls().onOpen() == OnOpen.WAIT)
				? new WaitingRoom(this.breaker, time) : null;
		this.quota = new QuotaLatch(settings.name(), settings.quotaCoolDown(), time, listener::onTransition);
		this.accountQuota = accountQuota;
		this.retries = retries;
		this.listener = listener;
		this.time = time;
		this.monitors = monitors;
	}

	private void onTransition(BreakerTransition transition) {
		// Whoever waits for a slot would only be refused at the end of the wait; but
		// who waits for the breaker too keeps the place.
		if (this.room == null && transition.to() != BreakerState.CLOSED && transition.to() != BreakerState.DISABLED) {
			this.limiter.refuseWaiting(this);
		}
		this.listener.onTransition(transition);
	}

	void onFailover(FailoverEvent event) {
		this.listener.onFailover(event);
	}

	/** What counts its calls. */
	CallMonitor monitor() {
		CallMonitor monitor = this.monitor;
		return (monitor != null) ? monitor : makeMonitor();
	}

	private CallMonitor makeMonitor() {
		this.lock.lock();
		try {
			CallMonitor monitor = this.monitor;
			if (monitor == null) {
				monitor = this.monitors.of(this);
				this.monitor = monitor;
			}
			return monitor;
		}
		finally {
			this.lock.unlock();
		}
	}

	void use() {
		if (!this.used) {
			this.used = true;
		}
	}

	/**
	 * A request of this entry carried an API key.
	 * @param hash the key's hash
	 */
	void usedKey(int hash) {
		if (this.keyChange.used(hash, this.time.nanoTime())) {
			this.limiter.startOver();
		}
	}

	/**
	 * Whether calls are made under this entry: a method names it, or a call did. An entry
	 * that only others inherit from is not used.
	 * @return whether it is
	 */
	public boolean isUsed() {
		return this.used;
	}

	/**
	 * Whether failures are retried at present. Switched off, every call ends with its
	 * first failure, whoever drives it.
	 * @return whether they are
	 */
	public boolean areRetriesOn() {
		return this.retries.isOn();
	}

	/**
	 * Whether its guards know of a trouble that newly made ones would have to find out.
	 */
	boolean isInTrouble() {
		CircuitBreaker breaker = this.breaker;
		return (breaker != null && breaker.state() != BreakerState.CLOSED) || this.quota.isLatched()
				|| this.accountQuota.isLatched();
	}

	/**
	 * The name of the entry.
	 * @return the name
	 */
	public String name() {
		return this.settings.name();
	}

	/**
	 * What the entry is configured with.
	 * @return the settings
	 */
	public ProviderSettings settings() {
		return this.settings;
	}

	/**
	 * How a call is made that asks for nothing special.
	 * @return the options
	 */
	public CallOptions options() {
		return this.options;
	}

	/**
	 * What paces its calls.
	 * @return the limiter
	 */
	public RateLimiter limiter() {
		return this.limiter;
	}

	/**
	 * What rations its retries.
	 * @return the budget, or {@code null} if it is switched off
	 */
	public @Nullable RetryBudget budget() {
		return this.budget;
	}

	/**
	 * What stops its calls.
	 * @return the circuit breaker, or {@code null} if it is switched off
	 */
	public @Nullable CircuitBreaker breaker() {
		return this.breaker;
	}

	@Nullable WaitingRoom room() {
		return this.room;
	}

	/**
	 * Follows other settings, but for those of its limiter.
	 * @param settings those that {@link ChangedSettings} lets change while running
	 */
	void configure(ProviderSettings settings) {
		this.settings = settings;
		this.options = CallOptions.of(settings.policy());
		BudgetSettings budget = settings.budget();
		if (this.budget != null && budget != null) {
			this.budget.configure(budget.capacity(), budget.refillPerSuccess(), budget.refillPerMinute());
		}
		if (this.breaker != null && settings.breaker() != null) {
			this.breaker.configure(settings.breaker());
		}
		this.quota.configure(settings.quotaCoolDown());
	}

	void clearLatches() {
		this.quota.clear();
		this.accountQuota.clear();
	}

	/** Refuses all who wait. */
	void close() {
		this.limiter.close();
		if (this.room != null) {
			this.room.close();
		}
	}

	/**
	 * The latch of this entry's own daily or per-model quota.
	 * @return the latch
	 */
	public QuotaLatch quota() {
		return this.quota;
	}

	/**
	 * The money latch of the account.
	 * @return the latch, shared by the entries of the account
	 */
	public QuotaLatch accountQuota() {
		return this.accountQuota;
	}

	/**
	 * What shuts calls off at present because a quota is exhausted.
	 * @return the latch, that of the account before the entry's own, or {@code null} if
	 * none does
	 */
	public @Nullable QuotaLatch latched() {
		return this.accountQuota.isLatched() ? this.accountQuota : this.quota.isLatched() ? this.quota : null;
	}

}
