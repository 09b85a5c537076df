package dev.llmresilience;

/**
 * What a stream that is retried after its first element delivers. Immutable.
 *
 * @param <T> the type of the elements
 * @see ReactiveLlmResilience#stream
 */
public sealed interface StreamEvent<T> {

	/**
	 * An element.
	 *
	 * @param <T> the type of the elements
	 * @param value the element
	 */
	record Item<T>(T value) implements StreamEvent<T> {
	}

	/**
	 * Voids all that came before: another attempt begins from the start.
	 *
	 * @param <T> the type of the elements
	 * @param attempt the number of the attempt that begins, 2 or more for one provider
	 * and 1 where another one takes over; 0 for the fallback
	 */
	record Reset<T>(int attempt) implements StreamEvent<T> {
	}

}
