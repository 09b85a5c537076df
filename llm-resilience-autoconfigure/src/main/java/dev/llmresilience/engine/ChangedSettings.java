package dev.llmresilience.engine;

import java.util.ArrayList;
import java.util.List;

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
	 */
	ChangedSettings(ProviderSettings before, ProviderSettings next) {
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
		this.settings = new ProviderSettings(name, before.type(), before.account(), next.hosts(), next.policy(),
				next.calls().withOnOpen(before.calls().onOpen()),
				next.limiter()
					.withMode(before.limiter().mode())
					.withShare(before.limiter().share(), before.limiter().initialLevel())
					.withNetworkMargin(before.limiter().networkMargin()),
				before.limiterSharedWith(), both(before.budget(), next.budget()),
				both(before.breaker(), next.breaker()), next.quotaCoolDown());
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
