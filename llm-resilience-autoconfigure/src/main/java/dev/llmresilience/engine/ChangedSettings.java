package dev.llmresilience.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import dev.llmresilience.limiter.LimiterSettings;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of an entry's settings when they change while it is at work: some hold at
 * once, others only after the next start, because what they shaped is in use. Immutable.
 */
final class ChangedSettings {

	private final ProviderSettings settings;

	private final List<String> later = new ArrayList<>();

	/**
	 * Compares settings.
	 * @param before those that hold
	 * @param next those that are to
	 * @param entries the names of the entries that are at work
	 */
	ChangedSettings(ProviderSettings before, ProviderSettings next, Set<String> entries) {
		String name = next.name();
		differ(name + ".type", before.type(), next.type());
		differ(name + ".account", before.account(), next.account());
		differ(name + ".retry.on-open", before.calls().onOpen(), next.calls().onOpen());
		differ(name + ".budget.enabled", before.budget() != null, next.budget() != null);
		differ(name + ".breaker.enabled", before.breaker() != null, next.breaker() != null);
		differ(name + ".limiter.shared-with", before.limiterSharedWith(), next.limiterSharedWith());
		differ(name + ".limiter.mode", before.limiter().mode(), next.limiter().mode());
		differ(name + ".limiter.share", before.limiter().share(), next.limiter().share());
		differ(name + ".limiter.network-margin", before.limiter().networkMargin(), next.limiter().networkMargin());
		boolean sameType = before.type() == next.type();
		if (before.limiter().mode() != next.limiter().mode()) {
			differ(name + ".limiter", before.limiter().withMode(next.limiter().mode()), next.limiter());
		}
		this.settings = new ProviderSettings(name, before.type(), before.account(),
				sameType ? next.hosts() : before.hosts(), next.policy(), calls(before, next, entries),
				limiter(before, next), before.limiterSharedWith(), both(before.budget(), next.budget()),
				both(before.breaker(), next.breaker()), next.quotaCoolDown());
	}

	private CallSettings calls(ProviderSettings before, ProviderSettings next, Set<String> entries) {
		CallSettings calls = next.calls().withOnOpen(before.calls().onOpen());
		if (entries.containsAll(calls.failover())) {
			return calls;
		}
		// An entry that comes with the next start cannot take over before.
		this.later.add(next.name() + ".retry.failover");
		return calls.withFailover(before.calls().failover().toArray(String[]::new));
	}

	/** The limits of one mode may make no sense in another. */
	private static LimiterSettings limiter(ProviderSettings before, ProviderSettings next) {
		LimiterSettings limiter = before.limiter();
		return (limiter.mode() != next.limiter().mode()) ? limiter
				: next.limiter()
					.withShare(limiter.share(), limiter.initialLevel())
					.withNetworkMargin(limiter.networkMargin());
	}

	private void differ(String property, @Nullable Object before, @Nullable Object next) {
		if ((before == null) ? next != null : !before.equals(next)) {
			this.later.add(property);
		}
	}

	/** A guard is not made or taken away while calls are under it. */
	private static <T> @Nullable T both(@Nullable T before, @Nullable T next) {
		return (before == null || next == null) ? before : next;
	}

	/** What holds from now on. */
	ProviderSettings settings() {
		return this.settings;
	}

	/** The properties that wait for the next start. */
	List<String> later() {
		return this.later;
	}

}
