package dev.llmresilience.http;

import java.util.Map;

import dev.llmresilience.LlmCall;
import dev.llmresilience.engine.Exchange;
import reactor.core.publisher.Mono;

import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.ExchangeFunction;

/**
 * The hook for Spring's {@code WebClient} and the HTTP service clients on top of it.
 * Clients from Spring Boot's builder have it already; to any other it is added by hand:
 * {@code WebClient.builder().filter(hook)}. The call that a request belongs to is found
 * in the Reactor context, or else it is the one of the thread that subscribes. Immutable;
 * thread-safe.
 */
public final class WebClientHook implements ExchangeFilterFunction {

	private final ResponseLimits limits;

	/**
	 * Creates the hook.
	 * @param limits what it shares with other hooks
	 */
	public WebClientHook(ResponseLimits limits) {
		this.limits = limits;
	}

	@Override
	public Mono<ClientResponse> filter(ClientRequest request, ExchangeFunction next) {
		return Mono.deferContextual((context) -> {
			Exchange exchange = this.limits.begin(context.getOrDefault(LlmCall.CONTEXT_KEY, LlmCall.current()));
			return (exchange != null) ? exchange(exchange, withKey(exchange, request), next) : next.exchange(request);
		});
	}

	private Mono<ClientResponse> exchange(Exchange exchange, ClientRequest request, ExchangeFunction next) {
		return next.exchange(request).doOnNext((response) -> received(exchange, request, response));
	}

	private static ClientRequest withKey(Exchange exchange, ClientRequest request) {
		Map.Entry<String, String> key = IdempotencyKeys.forRequest(exchange, request.headers()::getOrEmpty);
		return (key != null) ? ClientRequest.from(request).header(key.getKey(), key.getValue()).build() : request;
	}

	private void received(Exchange exchange, ClientRequest request, ClientResponse response) {
		this.limits.received(exchange, () -> request.url().getHost(), request.headers()::getOrEmpty,
				(name) -> response.headers().asHttpHeaders().getOrEmpty(name));
	}

}
