package dev.llmresilience.http;

import java.util.List;
import java.util.Map;
import java.util.function.Function;

import dev.llmresilience.engine.Exchange;
import org.jspecify.annotations.Nullable;

/**
 * The header that all hooks add to the requests of a protected call, so that the provider
 * can recognise one that it has had before. Where the SDKs send a request again by
 * themselves, they say so in a header, and it keeps its key. Thread-safe.
 */
final class IdempotencyKeys {

	private static final String SENT_AGAIN = "X-Stainless-Retry-Count";

	private static final ThreadLocal<@Nullable Sent> last = new ThreadLocal<>();

	private IdempotencyKeys() {
	}

	/**
	 * The header to add to a request.
	 * @param exchange the request, {@code null} outside of a protected call
	 * @param headers the values of the request's header of a name, in any case; empty for
	 * an absent one
	 * @return the header with its value; {@code null} where the provider entry has none,
	 * or the request carries one already
	 */
	static Map.@Nullable Entry<String, String> forRequest(@Nullable Exchange exchange,
			Function<String, List<String>> headers) {
		if (exchange == null) {
			return null;
		}
		String name = exchange.idempotencyKeyHeader();
		if (name == null || !headers.apply(name).isEmpty()) {
			return null;
		}
		int repeats = repeats(headers.apply(SENT_AGAIN));
		Sent before = last.get();
		String key = (before != null && repeats > 0 && repeats == before.repeats + 1) ? before.key
				: exchange.idempotencyKey();
		last.set(new Sent(key, repeats));
		return Map.entry(name, key);
	}

	private static int repeats(List<String> values) {
		try {
			return values.isEmpty() ? 0 : Integer.parseInt(values.get(0));
		}
		catch (NumberFormatException ex) {
			return 0;
		}
	}

	/**
	 * What the thread has sent last.
	 *
	 * @param key its key
	 * @param repeats how often an SDK had sent the same before
	 */
	private record Sent(String key, int repeats) {
	}

}
