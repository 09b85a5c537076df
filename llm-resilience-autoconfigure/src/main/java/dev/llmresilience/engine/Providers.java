package dev.llmresilience.engine;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.breaker.QuotaLatch;
import dev.llmresilience.engine.CallPlan.Target;
import dev.llmresilience.budget.RetryBudget;
import dev.llmresilience.limiter.RateLimiter;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * All provider entries at work. Thread-safe; which entries there are never changes.
 */
public final class Providers implements AutoCloseable {

	/** The built-in number of key values that an entry has guards for. */
	public static final int DEFAULT_MAX_KEYS = 1000;

	private final Map<String, Provider> byName;

	private final Map<String, CallPlan> plans = new ConcurrentHashMap<>();

	/** The entries that calls have been made under without an annotation. */
	private final Set<String> called = ConcurrentHashMap.newKeySet();

	private final Map<String, KeyedProviders> keyedByName;

	private final Map<String, RetrySwitch> retriesByName;

	/**
	 * Creates the entries' guards, with room for {@value #DEFAULT_MAX_KEYS} key values
	 * each.
	 * @param settings the entries
	 * @param time the time source of the engine
	 * @param listener hears of each transition of the guards
	 * @throws IllegalArgumentException if an entry shares the limiter of one that has
	 * none of its own
	 */
	public Providers(List<ProviderSettings> settings, TimeSource time, GuardListener listener) {
		this(settings, DEFAULT_MAX_KEYS, time, listener, CallMonitor.Factory.NONE);
	}

	/**
	 * Creates the entries' guards.
	 * @param settings the entries; those of one account share a money latch, whose
	 * cool-down is that of the first of them; one that is
	 * {@link ProviderSettings#limiterSharedWith() shared with} another uses its limiter
	 * @param maxKeys the most key values of an entry that have guards of their own
	 * @param time the time source of the engine
	 * @param listener hears of each transition of the guards
	 * @param monitors makes what counts the calls of an entry
	 * @throws IllegalArgumentException if an entry shares the limiter of one that has
	 * none of its own
	 */
	public Providers(List<ProviderSettings> settings, int maxKeys, TimeSource time, GuardListener listener,
			CallMonitor.Factory monitors) {
		Map<String, QuotaLatch> accounts = new LinkedHashMap<>();
		Map<String, RateLimiter> limiters = new HashMap<>();
		Map<String, Provider> providers = new LinkedHashMap<>();
		Map<String, KeyedProviders> keyed = new HashMap<>();
		Map<String, RetrySwitch> switches = new HashMap<>();
		for (ProviderSettings entry : settings) {
			QuotaLatch account = accounts.computeIfAbsent(entry.account(),
					(name) -> new QuotaLatch(name, entry.quotaCoolDown(), time, listener::onTransition));
			ProviderSettings owner = limiterOwner(entry, settings);
			RateLimiter limiter = limiters.computeIfAbsent(owner.name(),
					(name) -> new RateLimiter(owner.limiter(), time));
			RetrySwitch retries = new RetrySwitch();
			Provider provider = new Provider(entry, limiter, account, retries, time, listener, monitors);
			providers.put(entry.name(), provider);
			keyed.put(entry.name(), new KeyedProviders(entry, owner.limiter(), retries, maxKeys, time, listener,
					(unused) -> provider.monitor()));
			switches.put(entry.name(), retries);
		}
		this.byName = Collections.unmodifiableMap(providers);
		this.keyedByName = Map.copyOf(keyed);
		this.retriesByName = Map.copyOf(switches);
	}

	private static ProviderSettings limiterOwner(ProviderSettings entry, List<ProviderSettings> all) {
		String name = entry.limiterSharedWith();
		if (name == null) {
			return entry;
		}
		for (ProviderSettings other : all) {
			if (other.name().equals(name) && other.limiterSharedWith() == null) {
				return other;
			}
		}
		throw new IllegalArgumentException(
				"'" + entry.name() + "' shares the limiter of '" + name + "', which has none of its own");
	}

	/**
	 * Finds an entry.
	 * @param name its name
	 * @return the entry, or {@code null} if there is none of that name
	 */
	public @Nullable Provider find(String name) {
		return this.byName.get(name);
	}

	/**
	 * The plan of calls that ask for nothing special.
	 * @param name the name of the entry that they are made under, which is used from now
	 * on
	 * @return the plan, with the failover of the entry
	 * @throws IllegalArgumentException if there is none of that name
	 */
	CallPlan plan(String name) {
		use(name);
		return this.plans.computeIfAbsent(name, (unused) -> {
			Provider provider = get(name);
			this.called.add(name);
			List<Target> failover = provider.settings()
				.calls()
				.failover()
				.stream()
				.map(this::get)
				.map((other) -> new Target(other, other.options(), null))
				.toList();
			return new CallPlan("'" + name + "'", new Target(provider, provider.options(), null), failover);
		});
	}

	/**
	 * Gets an entry that has to exist.
	 * @param name its name
	 * @return the entry
	 * @throws IllegalArgumentException if there is none of that name; the message lists
	 * those that there are
	 */
	public Provider get(String name) {
		Provider provider = this.byName.get(name);
		if (provider == null) {
			throw new IllegalArgumentException(
					"No provider '" + name + "' in llm.resilience.providers: known are " + names());
		}
		return provider;
	}

	/**
	 * Gets an entry to make calls under it.
	 * @param name its name
	 * @return the entry
	 * @throws IllegalArgumentException if there is none of that name; the message lists
	 * those that there are
	 */
	public Provider use(String name) {
		Provider provider = get(name);
		provider.use();
		return provider;
	}

	/**
	 * The guards of an entry's key values.
	 * @param name the name of the entry
	 * @return the guards
	 * @throws IllegalArgumentException if there is no such entry
	 */
	public KeyedProviders keyed(String name) {
		return Objects.requireNonNull(this.keyedByName.get(get(name).name()));
	}

	/**
	 * Sets the rate of an entry's limiter, and of those of its key values, while running;
	 * those who wait follow.
	 * @param name the name of the entry
	 * @param requestsPerMinute calls a minute, above 0 and finite
	 * @throws IllegalArgumentException if there is no such entry, or the rate is out of
	 * its range
	 */
	public void setRequestsPerMinute(String name, double requestsPerMinute) {
		RateLimiter limiter = limiter(name);
		limiter.setRequestsPerMinute(requestsPerMinute);
		this.byName.forEach((other, provider) -> {
			if (provider.limiter() == limiter) {
				keyed(other).setRequestsPerMinute(requestsPerMinute);
			}
		});
	}

	/**
	 * Follows other settings without losing state: limits and policies change, what was
	 * learnt and counted stays. Calls under way keep the policy that they began with.
	 * What cannot change while running stays as it is.
	 * @param settings the entries, checked
	 * @return the properties that differ and stay as they are until the next start, such
	 * as {@code anthropic.type}, or entries that come or go; sorted
	 */
	public List<String> configure(List<ProviderSettings> settings) {
		Set<String> missing = new TreeSet<>(this.byName.keySet());
		List<ChangedSettings> changes = new ArrayList<>();
		Set<String> later = new TreeSet<>();
		for (ProviderSettings next : settings) {
			Provider provider = this.byName.get(next.name());
			if (provider == null) {
				later.add(next.name());
				continue;
			}
			missing.remove(next.name());
			ChangedSettings change = new ChangedSettings(provider.settings(), next, this.byName.keySet());
			changes.add(change);
			later.addAll(change.later());
		}
		later.addAll(missing);
		Set<QuotaLatch> accounts = new HashSet<>();
		for (ChangedSettings change : changes) {
			ProviderSettings next = change.settings();
			Provider provider = get(next.name());
			provider.configure(next);
			if (next.limiterSharedWith() == null) {
				provider.limiter().configure(next.limiter());
			}
			if (accounts.add(provider.accountQuota())) {
				provider.accountQuota().configure(next.quotaCoolDown());
			}
		}
		this.byName
			.forEach((name, provider) -> keyed(name).configure(provider.settings(), provider.limiter().settings()));
		this.plans.clear();
		return List.copyOf(later);
	}

	/**
	 * Switches the retries of an entry off or on again, for calls under its key values
	 * too. A call that waits for its next attempt still makes it.
	 * @param name the name of the entry
	 * @param on whether failures are to be retried
	 * @throws IllegalArgumentException if there is no such entry
	 */
	public void setRetries(String name, boolean on) {
		Objects.requireNonNull(this.retriesByName.get(get(name).name())).set(on);
	}

	/**
	 * Lets the calls of an entry pass again that an exhausted quota shuts off: its own,
	 * that of its account, and those of its key values.
	 * @param name the name of the entry
	 * @throws IllegalArgumentException if there is no such entry
	 */
	public void clearLatches(String name) {
		Provider provider = get(name);
		provider.clearLatches();
		keyed(name).clearLatches();
	}

	/**
	 * Whether calls are made under an entry that no annotation stands for.
	 * @param name the name of the entry
	 * @return whether there has been one
	 */
	public boolean isCalledByProgram(String name) {
		return this.called.contains(name);
	}

	/**
	 * What paces the calls of an entry.
	 * @param name the name of the entry
	 * @return the limiter
	 * @throws IllegalArgumentException if there is no such entry
	 */
	public RateLimiter limiter(String name) {
		return get(name).limiter();
	}

	/**
	 * What rations the retries of an entry.
	 * @param name the name of the entry
	 * @return the budget
	 * @throws IllegalArgumentException if there is no such entry, or its budget is
	 * switched off
	 */
	public RetryBudget budget(String name) {
		RetryBudget budget = get(name).budget();
		if (budget == null) {
			throw new IllegalArgumentException("The retry budget of '" + name + "' is switched off");
		}
		return budget;
	}

	/**
	 * What stops the calls of an entry.
	 * @param name the name of the entry
	 * @return the circuit breaker
	 * @throws IllegalArgumentException if there is no such entry, or its breaker is
	 * switched off
	 */
	public CircuitBreaker breaker(String name) {
		CircuitBreaker breaker = get(name).breaker();
		if (breaker == null) {
			throw new IllegalArgumentException("The circuit breaker of '" + name + "' is switched off");
		}
		return breaker;
	}

	/**
	 * The names of all entries, sorted.
	 * @return the names
	 */
	public Collection<String> names() {
		return Collections.unmodifiableCollection(new TreeSet<>(this.byName.keySet()));
	}

	/**
	 * All entries, in the order of the configuration.
	 * @return the entries
	 */
	public Collection<Provider> all() {
		return this.byName.values();
	}

	/**
	 * Refuses all calls that wait for a slot of a limiter, and all later ones.
	 */
	@Override
	public void close() {
		this.byName.values().forEach((provider) -> provider.close());
		this.keyedByName.values().forEach(KeyedProviders::close);
	}

}
