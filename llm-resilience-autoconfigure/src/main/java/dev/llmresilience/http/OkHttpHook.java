package dev.llmresilience.http;

import java.io.IOException;
import java.util.Map;

import dev.llmresilience.engine.Exchange;
import okhttp3.Interceptor;
import okhttp3.Request;
import okhttp3.Response;
import org.jspecify.annotations.Nullable;

/**
 * The hook for OkHttp, which Spring AI's Anthropic and OpenAI models are built on. They
 * have it already where Spring Boot makes them; to any other client it is added by hand:
 * {@code new OkHttpClient.Builder().addInterceptor(hook)}. The call that a request
 * belongs to is the one of the thread that executes it, so that an enqueued request
 * belongs to none unless its dispatcher carries the context over. Immutable; thread-safe.
 */
public final class OkHttpHook implements Interceptor {

	private final ResponseLimits limits;

	/**
	 * Creates the hook.
	 * @param limits what it shares with other hooks
	 */
	public OkHttpHook(ResponseLimits limits) {
		this.limits = limits;
	}

	@Override
	public Response intercept(Chain chain) throws IOException {
		Exchange exchange = this.limits.begin();
		Response response = chain.proceed(withKey(exchange, chain.request()));
		this.limits.received(exchange, () -> response.request().url().host(), response.request()::headers,
				response::headers);
		return response;
	}

	private static Request withKey(@Nullable Exchange exchange, Request request) {
		Map.Entry<String, String> key = IdempotencyKeys.forRequest(exchange, request::headers);
		return (key != null) ? request.newBuilder().header(key.getKey(), key.getValue()).build() : request;
	}

}
