package dev.llmresilience.aop;

import org.jspecify.annotations.Nullable;

/**
 * Where the annotation stands that a method has its policy from. Immutable.
 *
 * @param placement on what it stands
 * @param type the name of the class or interface that it stands on, or on a method of
 * @param composed the name of the annotation that it is part of, or {@code null} where it
 * stands there itself
 */
public record PolicySource(Placement placement, String type, @Nullable String composed) {

	/**
	 * What an annotation stands on.
	 */
	public enum Placement {

		/** A method of a class, perhaps one that the called one overrides. */
		METHOD,

		/** A class, perhaps one that another extends. */
		CLASS,

		/** A method of an interface. */
		INTERFACE_METHOD,

		/** An interface. */
		INTERFACE

	}

}
