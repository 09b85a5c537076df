package dev.llmresilience.autoconfigure;

import java.lang.reflect.Field;
import java.util.stream.IntStream;

import org.apache.hc.client5.http.HttpRequestRetryStrategy;
import org.apache.hc.client5.http.classic.HttpClient;
import org.apache.hc.client5.http.impl.DefaultHttpRequestRetryStrategy;
import org.apache.hc.client5.http.impl.classic.HttpRequestRetryExec;
import org.apache.hc.client5.http.protocol.HttpClientContext;
import org.apache.hc.core5.http.message.BasicHttpResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ReflectionUtils;

/**
 * How often Apache's HttpClient sends a request. It tells nobody, so its fields are read;
 * where a version has others, it is taken for one that nobody has changed.
 */
final class HttpComponentsRetries {

	private static final int ENDLESS = 1000;

	private static final String CLIENT = "org.apache.hc.client5.http.impl.classic.InternalHttpClient";

	private HttpComponentsRetries() {
	}

	/**
	 * The most requests that a client makes of one.
	 * @param client the client
	 * @return the number; 1 for a client that is not the library's usual one
	 */
	static int tries(HttpClient client) {
		if (!client.getClass().getName().equals(CLIENT)) {
			return 1;
		}
		try {
			Object element = read(client, "execChain");
			while (element != null) {
				Object handler = read(element, "handler");
				if (handler instanceof HttpRequestRetryExec) {
					return (read(handler, "retryStrategy") instanceof HttpRequestRetryStrategy strategy)
							? tries(strategy) : tries(DefaultHttpRequestRetryStrategy.INSTANCE);
				}
				element = read(element, "next");
			}
			return 1;
		}
		catch (ReflectiveOperationException | RuntimeException ex) {
			return tries(DefaultHttpRequestRetryStrategy.INSTANCE);
		}
	}

	private static @Nullable Object read(Object target, String name) throws ReflectiveOperationException {
		Field field = ReflectionUtils.findField(target.getClass(), name);
		if (field == null) {
			throw new NoSuchFieldException(name);
		}
		ReflectionUtils.makeAccessible(field);
		return field.get(target);
	}

	private static int tries(HttpRequestRetryStrategy strategy) {
		return IntStream.of(429, 503, 500, 502, 504, 529).map((status) -> tries(strategy, status)).max().orElse(1);
	}

	private static int tries(HttpRequestRetryStrategy strategy, int status) {
		BasicHttpResponse response = new BasicHttpResponse(status);
		int tries = 1;
		while (tries < ENDLESS && strategy.retryRequest(response, tries, HttpClientContext.create())) {
			tries++;
		}
		return tries;
	}

}
