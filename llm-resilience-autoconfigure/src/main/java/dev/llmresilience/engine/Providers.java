package dev.llmresilience.engine;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.breaker.QuotaLatch;
import dev.llmresilience.budget.RetryBudget;
import dev.llmresilience.limiter.RateLimiter;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * All provider entries at work. Immutable; thread-safe.
 */
public final class Providers implements AutoCloseable {

	private final Map<String, Provider> byName;

	/**
	 * Creates the entries' guards.
	 * @param settings the entries; those of one account share a money latch, whose
	 * cool-down is that of the first of them
	 * @param time the time source of the engine
	 * @param listener hears of each transition of the guards
	 */
	public Providers(List<ProviderSettings> settings, TimeSource time, GuardListener listener) {
		Map<String, QuotaLatch> accounts = new LinkedHashMap<>();
		Map<String, Provider> providers = new LinkedHashMap<>();
		for (ProviderSettings entry : settings) {
			QuotaLatch account = accounts.computeIfAbsent(entry.account(),
					(name) -> new QuotaLatch(name, entry.quotaCoolDown(), time, listener::onTransition));
			providers.put(entry.name(), new Provider(entry, account, time, listener));
		}
		this.byName = Collections.unmodifiableMap(providers);
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
		this.byName.values().forEach((provider) -> provider.limiter().close());
	}

}
