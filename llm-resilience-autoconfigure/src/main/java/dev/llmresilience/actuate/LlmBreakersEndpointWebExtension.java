package dev.llmresilience.actuate;

import dev.llmresilience.actuate.LlmBreakersEndpoint.BreakerDescriptor;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/**
 * Gives the answers of {@link LlmBreakersEndpoint} their HTTP status: 404 for a provider
 * that does not exist, also on a write, and 400 for a state that cannot be set.
 */
@EndpointWebExtension(endpoint = LlmBreakersEndpoint.class)
public class LlmBreakersEndpointWebExtension {

	private final LlmBreakersEndpoint delegate;

	/**
	 * Creates the extension.
	 * @param delegate the endpoint
	 */
	public LlmBreakersEndpointWebExtension(LlmBreakersEndpoint delegate) {
		this.delegate = delegate;
	}

	/**
	 * Shows one breaker.
	 * @param provider the name of the provider entry
	 * @return the breaker, or 404
	 */
	@ReadOperation
	public WebEndpointResponse<BreakerDescriptor> breaker(@Selector String provider) {
		return WebAnswers.found(this.delegate.breaker(provider));
	}

	/**
	 * Closes, opens or disables a breaker.
	 * @param provider the name of the provider entry
	 * @param state {@code CLOSED}, {@code FORCED_OPEN} or {@code DISABLED}
	 * @return the breaker as it then is, 404, or 400 with what is allowed
	 */
	@WriteOperation
	public WebEndpointResponse<?> steer(@Selector String provider, @Nullable String state) {
		return WebAnswers.changed(() -> this.delegate.steer(provider, (state != null) ? state : ""));
	}

}
