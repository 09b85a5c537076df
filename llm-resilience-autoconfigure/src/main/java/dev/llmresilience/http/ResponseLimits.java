package dev.llmresilience.http;

import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;

import dev.llmresilience.LlmCall;
import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.engine.Exchange;
import dev.llmresilience.failure.RateLimitHeaders;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * What all hooks share: tells a protected call what the response to its request says
 * about the provider's limits. Outside of a protected call nothing happens, and nothing
 * that goes wrong here ever reaches the request. Header values are neither kept nor
 * logged; of the API key a hash is kept. Immutable; thread-safe.
 */
public final class ResponseLimits {

	/** Where Anthropic, Azure, Google and the others take the key from. */
	private static final List<String> KEYS = List.of("x-api-key", "api-key", "x-goog-api-key", "authorization");

	private static final String JSON_WEB_TOKEN = "Bearer eyJ";

	private static final String AWS_SIGNATURE = "AWS4-";

	private final TimeSource time;

	private final BiConsumer<Exchange, List<RateLimitSnapshot>> receiver;

	/**
	 * Creates the shared part of the hooks.
	 * @param time the wall clock for responses without a date
	 */
	public ResponseLimits(TimeSource time) {
		this(time, Exchange::received);
	}

	ResponseLimits(TimeSource time, BiConsumer<Exchange, List<RateLimitSnapshot>> receiver) {
		this.time = time;
		this.receiver = receiver;
	}

	/**
	 * The API key of a request. A token that is issued for an hour is none, and neither
	 * is a signature.
	 */
	static @Nullable String apiKey(Function<String, List<String>> headers) {
		for (String name : KEYS) {
			for (String value : headers.apply(name)) {
				if (!value.startsWith(JSON_WEB_TOKEN) && !value.startsWith(AWS_SIGNATURE)) {
					return value;
				}
			}
		}
		return null;
	}

	/**
	 * The request that the calling thread is about to send.
	 * @return the exchange, or {@code null} outside of a protected call
	 */
	@Nullable Exchange begin() {
		return begin(LlmCall.current());
	}

	/**
	 * A request that is about to be sent.
	 * @param call the call that it belongs to, or {@code null} outside of one
	 * @return the exchange, or {@code null} outside of a protected call
	 */
	@Nullable Exchange begin(@Nullable LlmCall call) {
		try {
			return Exchange.begin(call);
		}
		catch (RuntimeException ex) {
			return null;
		}
	}

	/**
	 * The response has come.
	 * @param exchange what {@link #begin} returned for its request
	 * @param host tells the host that answered, {@code null} if it is unknown
	 * @param sent the values of the request's header of a name, in any case; empty for an
	 * absent one
	 * @param headers the same of the response
	 */
	void received(@Nullable Exchange exchange, Supplier<@Nullable String> host, Function<String, List<String>> sent,
			Function<String, List<String>> headers) {
		if (exchange == null) {
			return;
		}
		try {
			String name = host.get();
			if (name != null && exchange.counts(name)) {
				String key = apiKey(sent);
				if (key != null) {
					exchange.sentWith(key);
				}
				List<RateLimitSnapshot> limits = RateLimitHeaders.read(exchange.type(), headers, this.time.now());
				if (!limits.isEmpty()) {
					this.receiver.accept(exchange, limits);
				}
			}
		}
		catch (RuntimeException ex) {
			// The response matters more than what it says about limits.
		}
	}

}
