package dev.llmresilience.http;

import java.net.URI;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.AnthropicClientAsync;
import com.anthropic.client.AnthropicClientAsyncImpl;
import com.anthropic.client.AnthropicClientImpl;
import com.anthropic.core.ClientOptions;
import com.anthropic.core.RequestOptions;
import com.anthropic.core.http.HttpClient;
import com.anthropic.core.http.HttpRequest;
import com.anthropic.core.http.HttpResponse;
import com.anthropic.core.http.Interceptor;
import dev.llmresilience.engine.Exchange;
import dev.llmresilience.failure.ProviderType;
import org.jspecify.annotations.Nullable;

/**
 * The hook for Anthropic's Java SDK. Clients that are beans have it already; others get
 * it from {@link #observe}. Sees each response, also those that the SDK itself retries
 * after. Uses what versions 2.52 and 3.14 have in common, and one thing more: requests of
 * asynchronous methods leave from another thread, to which only the later version lets
 * their call be carried. Immutable; thread-safe.
 */
public final class AnthropicHook implements Interceptor {

	private static final ThreadLocal<@Nullable Exchange> carried = new ThreadLocal<>();

	private final ResponseLimits limits;

	/**
	 * Creates the hook.
	 * @param limits what it shares with other hooks
	 */
	public AnthropicHook(ResponseLimits limits) {
		this.limits = limits;
	}

	/**
	 * Adds the hook to a client.
	 * @param client the client
	 * @return a client with the same options and connections, or the client itself if it
	 * is not the SDK's own
	 */
	public AnthropicClient observe(AnthropicClient client) {
		return (client instanceof AnthropicClientImpl) ? client.withOptions(this::observe) : client;
	}

	/**
	 * Adds the hook to a client.
	 * @param client the client
	 * @return a client with the same options and connections, or the client itself if it
	 * is not the SDK's own
	 */
	public AnthropicClientAsync observe(AnthropicClientAsync client) {
		return (client instanceof AnthropicClientAsyncImpl) ? client.withOptions(this::observe) : client;
	}

	private void observe(ClientOptions.Builder options) {
		options.addInterceptor(this);
		try {
			Executor executor = options.build().completionExecutor();
			options.completionExecutor((task) -> executor.execute(carrying(task)));
		}
		catch (NoSuchMethodError ex) {
			// An earlier version: the requests of its asynchronous methods belong to no
			// call.
		}
	}

	private Runnable carrying(Runnable task) {
		Exchange exchange = begin();
		return (exchange == null) ? task : () -> {
			carried.set(exchange);
			try {
				task.run();
			}
			finally {
				carried.remove();
			}
		};
	}

	private @Nullable Exchange begin() {
		Exchange exchange = this.limits.begin();
		return (exchange != null) ? exchange : carried.get();
	}

	/**
	 * Version 2.52 names no host before the request is sent. A client of the provider's
	 * own SDK is then taken to ask the provider.
	 */
	private static @Nullable String host(HttpRequest request) {
		String url = request.baseUrl();
		return (url == null) ? ProviderType.ANTHROPIC.hosts().get(0) : URI.create(url).getHost();
	}

	@Override
	public HttpClient intercept(HttpClient httpClient) {
		return new Observed(httpClient);
	}

	private final class Observed implements HttpClient {

		private final HttpClient client;

		Observed(HttpClient client) {
			this.client = client;
		}

		@Override
		public HttpResponse execute(HttpRequest request, RequestOptions options) {
			Exchange exchange = begin();
			HttpRequest keyed = withKey(exchange, request);
			HttpResponse response = this.client.execute(keyed, options);
			received(exchange, keyed, response);
			return response;
		}

		@Override
		public CompletableFuture<HttpResponse> executeAsync(HttpRequest request, RequestOptions options) {
			Exchange exchange = begin();
			HttpRequest keyed = withKey(exchange, request);
			CompletableFuture<HttpResponse> future = this.client.executeAsync(keyed, options);
			return (exchange == null) ? future : future.whenComplete((response, failure) -> {
				if (response != null) {
					received(exchange, keyed, response);
				}
			});
		}

		private static HttpRequest withKey(@Nullable Exchange exchange, HttpRequest request) {
			Map.Entry<String, String> key = IdempotencyKeys.forRequest(exchange, request.headers()::values);
			return (key != null) ? request.toBuilder().putHeader(key.getKey(), key.getValue()).build() : request;
		}

		private void received(@Nullable Exchange exchange, HttpRequest request, HttpResponse response) {
			AnthropicHook.this.limits.received(exchange, () -> host(request), request.headers()::values,
					(name) -> response.headers().values(name));
		}

		@Override
		public void close() {
			this.client.close();
		}

	}

}
