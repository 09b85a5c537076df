package dev.llmresilience.engine;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.HashSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Knows whose limiter each entry uses. Immutable.
 */
final class SharedLimiters {

	private final Map<String, ProviderSettings> byName;

	SharedLimiters(List<ProviderSettings> settings) {
		this.byName = settings.stream().collect(Collectors.toMap(ProviderSettings::name, Function.identity()));
	}

	/**
	 * Follows an entry to the one that does not share another's limiter.
	 * @throws IllegalArgumentException if there is none of that name, or no end
	 */
	ProviderSettings owner(ProviderSettings entry) {
		Set<String> seen = new HashSet<>();
		ProviderSettings owner = entry;
		while (owner.limiterSharedWith() != null) {
			ProviderSettings next = this.byName.get(owner.limiterSharedWith());
			if (next == null) {
				throw new IllegalArgumentException(
						"limiter.shared-with of '" + owner.name() + "' names '" + owner.limiterSharedWith()
								+ "', which is no provider: known are " + new TreeSet<>(this.byName.keySet()));
			}
			if (!seen.add(owner.name())) {
				throw new IllegalArgumentException("limiter.shared-with of '" + owner.name() + "' names '" + next.name()
						+ "', which leads back to '" + owner.name() + "'");
			}
			owner = next;
		}
		return owner;
	}

}
