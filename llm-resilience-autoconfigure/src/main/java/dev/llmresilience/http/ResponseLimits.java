package dev.llmresilience.http;

import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;

import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.engine.Exchange;
import dev.llmresilience.failure.RateLimitHeaders;
import dev.llmresilience.time.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * What all hooks share: tells a protected call what the response to its request says
 * about the provider's limits. Outside of a protected call nothing happens, and nothing
 * that goes wrong here ever reaches the request. Header values are neither kept nor
 * logged. Immutable; thread-safe.
 */
public final class ResponseLimits {

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
	 * The request that the calling thread is about to send.
	 * @return the exchange, or {@code null} outside of a protected call
	 */
	@Nullable Exchange begin() {
		try {
			return Exchange.begin();
		}
		catch (RuntimeException ex) {
			return null;
		}
	}

	/**
	 * The response has come.
	 * @param exchange what {@link #begin} returned for its request
	 * @param host tells the host that answered, {@code null} if it is unknown
	 * @param headers the values of the header of a name, in any case; empty for an absent
	 * one
	 */
	void received(@Nullable Exchange exchange, Supplier<@Nullable String> host,
			Function<String, List<String>> headers) {
		if (exchange == null) {
			return;
		}
		try {
			String name = host.get();
			if (name != null && exchange.counts(name)) {
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
