package dev.llmresilience.autoconfigure;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import dev.llmresilience.autoconfigure.LlmResilienceProperties.Limiter;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.ProviderEntry;
import dev.llmresilience.engine.ProviderSettings;
import org.jspecify.annotations.Nullable;

/**
 * Which entries use the limiter of another. Immutable.
 */
final class SharedLimiters {

	/** What describes the one limiter, which the entry that owns it has to say. */
	private static final Map<String, Source.Property<Limiter, ?>> OF_THE_OWNER = new LinkedHashMap<>();

	static {
		OF_THE_OWNER.put("mode", Limiter::mode);
		OF_THE_OWNER.put("requests-per-minute", Limiter::requestsPerMinute);
		OF_THE_OWNER.put("burst", Limiter::burst);
		OF_THE_OWNER.put("share", Limiter::share);
		OF_THE_OWNER.put("initial-level", Limiter::initialLevel);
		OF_THE_OWNER.put("tokens-per-minute", Limiter::tokensPerMinute);
		OF_THE_OWNER.put("input-tokens-per-minute", Limiter::inputTokensPerMinute);
		OF_THE_OWNER.put("output-tokens-per-minute", Limiter::outputTokensPerMinute);
		OF_THE_OWNER.put("default-tokens", Limiter::defaultTokens);
		OF_THE_OWNER.put("max-concurrent-calls", Limiter::maxConcurrentCalls);
		OF_THE_OWNER.put("max-wait", Limiter::maxWait);
		OF_THE_OWNER.put("max-waiting", Limiter::maxWaiting);
		OF_THE_OWNER.put("network-margin", Limiter::networkMargin);
	}

	private final Map<String, String> sharedWith;

	private SharedLimiters(Map<String, String> sharedWith) {
		this.sharedWith = sharedWith;
	}

	/**
	 * Checks who shares with whom.
	 * @param entries all entries
	 * @return who shares
	 * @throws InvalidPropertyException if an entry shares with one that is not there,
	 * with itself, or describes a limiter of its own besides
	 */
	static SharedLimiters of(Map<String, ProviderEntry> entries) {
		Map<String, String> sharedWith = new LinkedHashMap<>();
		entries.forEach((name, entry) -> {
			Limiter limiter = entry.limiter();
			String other = (limiter != null) ? limiter.sharedWith() : null;
			if (limiter != null && other != null) {
				check(name, limiter, other, entries);
				sharedWith.put(name, other);
			}
		});
		SharedLimiters shared = new SharedLimiters(sharedWith);
		sharedWith.keySet().forEach(shared::checkCycle);
		return shared;
	}

	private static void check(String name, Limiter limiter, String other, Map<String, ProviderEntry> entries) {
		if (name.equals(ProviderSettings.DEFAULT_NAME)) {
			throw refused(name, other, "is not inherited and means nothing on default, which others inherit from",
					"Set it on each of the entries that the provider counts together.");
		}
		if (other.equals(name) || !entries.containsKey(other)) {
			TreeSet<String> others = new TreeSet<>(entries.keySet());
			others.remove(name);
			throw refused(name, other, "must be the name of another entry: there are " + others,
					"Use one of these names, or leave the property out for a limiter of its own.");
		}
		List<String> set = new ArrayList<>();
		OF_THE_OWNER.forEach((property, value) -> {
			if (value.of(limiter) != null) {
				set.add(property);
			}
		});
		if (!set.isEmpty()) {
			throw refused(name, other,
					"makes '" + name + "' use the limiter of '" + other + "', beside which its own " + set
							+ " would mean nothing",
					"Set these on '" + other + "', where they hold for both, or leave shared-with out.");
		}
	}

	private void checkCycle(String name) {
		List<String> path = new ArrayList<>(List.of(name));
		for (String other = this.sharedWith.get(name); other != null; other = this.sharedWith.get(other)) {
			boolean again = path.contains(other);
			path.add(other);
			if (again) {
				throw refused(name, path.get(1),
						"leads in a circle, so that none has a limiter: " + String.join(" -> ", path),
						"Leave the property out at the entry whose limiter the others are to use.");
			}
		}
	}

	/**
	 * The entry whose limiter an entry uses, found through all that share in turn.
	 * @param name the entry
	 * @return the owner of the limiter, or {@code null} if it is the entry itself
	 */
	@Nullable String owner(String name) {
		String owner = this.sharedWith.get(name);
		for (String next = owner; next != null; next = this.sharedWith.get(next)) {
			owner = next;
		}
		return owner;
	}

	private static InvalidPropertyException refused(String name, String value, String reason, String action) {
		return new InvalidPropertyException(ProviderNames.PROVIDERS + "." + name + ".limiter.shared-with", value,
				reason, action);
	}

}
