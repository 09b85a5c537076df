package dev.llmresilience.engine;

import java.util.List;

import dev.llmresilience.LlmCall;
import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.failure.ProviderType;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP request that a protected call sends, seen from the client library that sends
 * it: what its response says about limits goes to the limiter of the call. Thread-safe:
 * the response may arrive on another thread, and after the attempt is over.
 */
public final class Exchange {

	private final Call call;

	private final Provider provider;

	private final long sent;

	Exchange(Call call, Provider provider, long sent) {
		this.call = call;
		this.provider = provider;
		this.sent = sent;
	}

	/**
	 * A request that is about to be sent.
	 * @param call the call that it belongs to, or {@code null} outside of one
	 * @return the exchange, or {@code null} outside of a protected call
	 */
	public static @Nullable Exchange begin(@Nullable LlmCall call) {
		return (call instanceof Call protectedCall) ? protectedCall.exchange() : null;
	}

	/**
	 * The API dialect of the provider entry, which says which headers count.
	 * @return the dialect
	 */
	public ProviderType type() {
		return this.provider.settings().type();
	}

	/**
	 * Whether the headers of a host's responses count for the provider entry.
	 * @param host the host, such as {@code api.anthropic.com}
	 * @return whether they do
	 */
	public boolean counts(String host) {
		return this.provider.settings().isHost(host);
	}

	/**
	 * The request header that carries the idempotency key.
	 * @return its name, or {@code null} where the provider entry has none
	 */
	public @Nullable String idempotencyKeyHeader() {
		return this.call.settings().idempotencyKeyHeader();
	}

	/**
	 * The key by which the provider can recognise this request when it is sent again.
	 * Asked for once, because each time counts as another request of the attempt.
	 * @return the key
	 */
	public String idempotencyKey() {
		return this.call.idempotencyKey();
	}

	/**
	 * Tells which API key the request carried. What the limiter has learnt belongs to a
	 * key: it begins anew when the entry goes over to another one.
	 * @param key the key; only its hash is kept
	 */
	public void sentWith(String key) {
		this.provider.usedKey(key.hashCode());
	}

	/**
	 * Tells what a response said, of success or failure.
	 * @param limits what was read from its headers, empty if they said nothing
	 */
	public void received(List<RateLimitSnapshot> limits) {
		this.provider.limiter().onLimits(this.sent, limits);
	}

}
