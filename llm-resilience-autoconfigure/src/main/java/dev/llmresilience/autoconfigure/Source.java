package dev.llmresilience.autoconfigure;

import org.jspecify.annotations.Nullable;

/**
 * One group of properties, as an entry and as {@code default} set it. Immutable.
 *
 * @param <G> the type of the group
 */
final class Source<G> {

	private final G own;

	private final G inherited;

	Source(@Nullable G own, @Nullable G inherited, G nothing) {
		this.own = (own != null) ? own : nothing;
		this.inherited = (inherited != null) ? inherited : nothing;
	}

	<T> @Nullable T find(Property<G, T> property) {
		T value = property.of(this.own);
		return (value != null) ? value : property.of(this.inherited);
	}

	<T> T get(Property<G, T> property, T built) {
		T value = find(property);
		return (value != null) ? value : built;
	}

	/** Whether the entry sets a property itself. */
	boolean isOwn(Property<G, ?> property) {
		return property.of(this.own) != null;
	}

	/** Reads one property of a group, {@code null} where it is not set. */
	@FunctionalInterface
	interface Property<G, T> {

		@Nullable T of(G group);

	}

}
