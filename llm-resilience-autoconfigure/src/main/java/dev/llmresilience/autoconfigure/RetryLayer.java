package dev.llmresilience.autoconfigure;

/**
 * Another layer that retries protected calls. Immutable.
 *
 * @param kind what sort of layer it is
 * @param name the property, bean or method that it was found at
 * @param tries the most requests that it makes of one, at least 2
 * @param provider the entry whose calls it multiplies most
 * @param requests the most requests that one call of that entry can then become; more
 * where the entry bounds its retries by time and not by a count
 */
public record RetryLayer(Kind kind, String name, int tries, String provider, long requests) {

	/** Sorts of layers. */
	public enum Kind {

		/** The retry template of Spring AI. */
		SPRING_AI,

		/** A client of a provider's own SDK, also where Spring AI makes it. */
		SDK,

		/** What sends the requests of other clients. */
		HTTP_CLIENT,

		/** Another annotation on the same method. */
		ANNOTATION

	}

}
