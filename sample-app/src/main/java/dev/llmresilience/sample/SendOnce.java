package dev.llmresilience.sample;

import java.io.IOException;

import okhttp3.Interceptor;
import okhttp3.MediaType;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import okio.BufferedSink;
import org.jspecify.annotations.Nullable;

/**
 * Keeps OkHttp from sending a request again on its own. With the SDKs' retries off it
 * still would, unseen, when a connection breaks, after a 408, and after a 503 with
 * {@code Retry-After: 0}. Spring AI does not expose the setting, but OkHttp never repeats
 * a body that says it can be sent only once.
 */
final class SendOnce implements Interceptor {

	@Override
	public Response intercept(Chain chain) throws IOException {
		Request request = chain.request();
		RequestBody body = request.body();
		if (body == null) {
			return chain.proceed(request);
		}
		return chain.proceed(request.newBuilder().method(request.method(), new OneShotBody(body)).build());
	}

	private static final class OneShotBody extends RequestBody {

		private final RequestBody body;

		OneShotBody(RequestBody body) {
			this.body = body;
		}

		@Override
		public boolean isOneShot() {
			return true;
		}

		@Override
		public @Nullable MediaType contentType() {
			return this.body.contentType();
		}

		@Override
		public long contentLength() throws IOException {
			return this.body.contentLength();
		}

		@Override
		public void writeTo(BufferedSink sink) throws IOException {
			this.body.writeTo(sink);
		}

	}

}
