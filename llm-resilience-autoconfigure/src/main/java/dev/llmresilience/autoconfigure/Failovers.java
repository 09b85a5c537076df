package dev.llmresilience.autoconfigure;

import java.util.Collection;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import dev.llmresilience.FailureKind;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.ProviderEntry;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Retry;
import org.jspecify.annotations.Nullable;

/**
 * Which entries take over from which.
 */
final class Failovers {

	/** Whoever takes over would get the same, or nobody would be there to get it. */
	private static final Set<FailureKind> NEVER = EnumSet.of(FailureKind.APPLICATION, FailureKind.CANCELLED,
			FailureKind.CONFLICT);

	private Failovers() {
	}

	/**
	 * Checks who is to take over, and after what.
	 * @param entries all entries
	 * @throws InvalidPropertyException if a name is not that of another entry, or a kind
	 * never fails over
	 */
	static void check(Map<String, ProviderEntry> entries) {
		entries.forEach((name, entry) -> {
			Retry retry = entry.retry();
			if (retry != null) {
				check(name, retry, entries.keySet());
			}
		});
	}

	private static void check(String name, Retry retry, Collection<String> names) {
		String prefix = ProviderNames.PROVIDERS + "." + name + ".retry.";
		List<String> failover = (retry.failover() != null) ? retry.failover() : List.of();
		Set<String> seen = new HashSet<>();
		for (String other : failover) {
			if (other.equals(name) || !names.contains(other) || !seen.add(other)) {
				TreeSet<String> others = new TreeSet<>(names);
				others.remove(name);
				throw new InvalidPropertyException(prefix + "failover", String.join(",", failover),
						"must name other entries, each once: there are " + others,
						"Use these names, or leave the property out for no failover.");
			}
		}
		Set<FailureKind> on = (retry.failoverOn() != null) ? retry.failoverOn() : Set.of();
		for (FailureKind kind : on) {
			if (NEVER.contains(kind)) {
				Set<FailureKind> allowed = EnumSet.complementOf(EnumSet.copyOf(NEVER));
				throw new InvalidPropertyException(prefix + "failover-on", kind,
						"is a kind that another provider cannot help with: allowed are " + allowed,
						"Remove it, or leave the property out for the kinds that fail over by themselves.");
			}
		}
	}

	/**
	 * Those who take over from an entry; what it inherits may name the entry itself.
	 * @param name the entry
	 * @param failover what is configured, or {@code null}
	 * @return the others, in order
	 */
	static List<String> of(String name, @Nullable List<String> failover) {
		return (failover != null) ? failover.stream().filter((other) -> !other.equals(name)).toList() : List.of();
	}

}
