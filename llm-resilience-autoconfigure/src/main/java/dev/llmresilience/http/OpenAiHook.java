package dev.llmresilience.http;

import java.net.URI;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import com.openai.azure.credential.AzureApiKeyCredential;
import com.openai.client.OpenAIClient;
import com.openai.client.OpenAIClientAsync;
import com.openai.client.OpenAIClientAsyncImpl;
import com.openai.client.OpenAIClientImpl;
import com.openai.core.ClientOptions;
import com.openai.core.LogLevel;
import com.openai.core.RequestOptions;
import com.openai.core.http.HttpClient;
import com.openai.core.http.HttpRequest;
import com.openai.core.http.HttpResponse;
import com.openai.credential.BearerTokenCredential;
import com.openai.credential.Credential;
import dev.llmresilience.engine.Exchange;
import org.jspecify.annotations.Nullable;

/**
 * The hook for OpenAI's Java SDK (4.49). Clients that are beans have it already; others
 * get it from {@link #observe}. Sees each response, also those that the SDK itself
 * retries after, except that requests of asynchronous methods belong to no call: they
 * leave from a thread of the JDK's common pool. Immutable; thread-safe.
 */
public final class OpenAiHook {

	private final ResponseLimits limits;

	/**
	 * Creates the hook.
	 * @param limits what it shares with other hooks
	 */
	public OpenAiHook(ResponseLimits limits) {
		this.limits = limits;
	}

	/**
	 * Adds the hook to a client.
	 * @param client the client
	 * @return a client with the same options and connections, or the client itself if it
	 * is not the SDK's own
	 */
	public OpenAIClient observe(OpenAIClient client) {
		return (client instanceof OpenAIClientImpl) ? client.withOptions(this::observe) : client;
	}

	/**
	 * Adds the hook to a client.
	 * @param client the client
	 * @return a client with the same options and connections, or the client itself if it
	 * is not the SDK's own
	 */
	public OpenAIClientAsync observe(OpenAIClientAsync client) {
		return (client instanceof OpenAIClientAsyncImpl) ? client.withOptions(this::observe) : client;
	}

	/**
	 * Puts the hook between what sends requests and the layers around it (retries,
	 * logging), which the SDK makes anew whenever options change. It hands out the sender
	 * within such layers only, so they are switched off for a moment.
	 */
	private void observe(ClientOptions.Builder options) {
		ClientOptions before = options.build();
		if (!isPlain(before.credential())) {
			return;
		}
		HttpClient sender = options.maxRetries(0).logLevel(LogLevel.OFF).build().httpClient();
		options.maxRetries(before.maxRetries())
			.logLevel(before.logLevel())
			.httpClient(new Observed(sender, this.limits));
	}

	/**
	 * Whether a credential is but a header. Any other comes with a layer of its own,
	 * which cannot be switched off and must not be there twice.
	 */
	private static boolean isPlain(Credential credential) {
		return credential instanceof BearerTokenCredential || credential instanceof AzureApiKeyCredential;
	}

	private record Observed(HttpClient client, ResponseLimits limits) implements HttpClient {

		@Override
		public HttpResponse execute(HttpRequest request, RequestOptions options) {
			Exchange exchange = this.limits.begin();
			HttpRequest keyed = withKey(exchange, request);
			HttpResponse response = this.client.execute(keyed, options);
			received(exchange, keyed, response);
			return response;
		}

		@Override
		public CompletableFuture<HttpResponse> executeAsync(HttpRequest request, RequestOptions options) {
			Exchange exchange = this.limits.begin();
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
			this.limits.received(exchange, () -> URI.create(request.baseUrl()).getHost(), request.headers()::values,
					(name) -> response.headers().values(name));
		}

		@Override
		public void close() {
			this.client.close();
		}

	}

}
