package dev.llmresilience.actuate;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/**
 * Gives the answers of {@link LlmProvidersEndpoint} their HTTP status: 404 for a provider
 * that does not exist, also on a write, and 400 for what cannot be set.
 */
@EndpointWebExtension(endpoint = LlmProvidersEndpoint.class)
public class LlmProvidersEndpointWebExtension {

	private final LlmProvidersEndpoint delegate;

	/**
	 * Creates the extension.
	 * @param delegate the endpoint
	 */
	public LlmProvidersEndpointWebExtension(LlmProvidersEndpoint delegate) {
		this.delegate = delegate;
	}

	/**
	 * Shows one provider entry.
	 * @param provider the name of the entry
	 * @return the entry, or 404
	 */
	@ReadOperation
	public WebEndpointResponse<ProviderDescriptor> provider(@Selector String provider) {
		return WebAnswers.found(this.delegate.provider(provider));
	}

	/**
	 * Changes any of what can be changed while running.
	 * @param provider the name of the provider entry
	 * @param requestsPerMinute the rate of its calls, or {@code null} to leave it
	 * @param latch {@code CLEAR}, or {@code null} to leave it
	 * @param retries {@code ON}, {@code OFF}, or {@code null} to leave that
	 * @return the entry as it then is, 404, or 400 with what is allowed
	 */
	@WriteOperation
	public WebEndpointResponse<?> steer(@Selector String provider, @Nullable String requestsPerMinute,
			@Nullable String latch, @Nullable String retries) {
		return WebAnswers.changed(() -> this.delegate.steer(provider, requestsPerMinute, latch, retries));
	}

}
