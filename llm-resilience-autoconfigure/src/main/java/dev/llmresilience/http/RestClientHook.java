package dev.llmresilience.http;

import java.io.IOException;
import java.util.Map;

import dev.llmresilience.engine.Exchange;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;

/**
 * The hook for Spring's {@code RestClient}, {@code RestTemplate} and the HTTP service
 * clients on top of them. Clients from Spring Boot's builders have it already; to any
 * other it is added by hand: {@code RestClient.builder().requestInterceptor(hook)}.
 * Outside of a protected call it passes request and response on untouched.
 * <p>
 * As with every interceptor, Spring holds the body of a request in memory before the hook
 * is asked, whatever the request is for. A client that uploads large files goes without:
 * {@code builder.requestInterceptors((all) -> all.remove(hook))}. Immutable; thread-safe.
 */
public final class RestClientHook implements ClientHttpRequestInterceptor {

	private final ResponseLimits limits;

	/**
	 * Creates the hook.
	 * @param limits what it shares with other hooks
	 */
	public RestClientHook(ResponseLimits limits) {
		this.limits = limits;
	}

	@Override
	public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
			throws IOException {
		Exchange exchange = this.limits.begin();
		if (exchange == null) {
			return execution.execute(request, body);
		}
		addKey(exchange, request);
		ClientHttpResponse response = execution.execute(request, body);
		this.limits.received(exchange, () -> request.getURI().getHost(), request.getHeaders()::getOrEmpty,
				(name) -> response.getHeaders().getOrEmpty(name));
		return response;
	}

	private static void addKey(@Nullable Exchange exchange, HttpRequest request) {
		Map.Entry<String, String> key = IdempotencyKeys.forRequest(exchange, request.getHeaders()::getOrEmpty);
		if (key != null) {
			request.getHeaders().set(key.getKey(), key.getValue());
		}
	}

}
