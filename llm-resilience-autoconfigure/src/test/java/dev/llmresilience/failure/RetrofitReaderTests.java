package dev.llmresilience.failure;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import okhttp3.Call;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import okhttp3.ResponseBody;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import retrofit2.HttpException;
import retrofit2.Retrofit;
import retrofit2.http.Body;
import retrofit2.http.POST;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for {@link RetrofitReader} with the exceptions of the real client, and for those
 * of OkHttp below it.
 */
class RetrofitReaderTests extends ClientContract {

	@Override
	Map<String, Client> clients() {
		return Map.of("Retrofit", (url, timeout) -> chat(url, timeout).get().string(), "OkHttp",
				RetrofitReaderTests::callOkHttp);
	}

	@Override
	Map<String, String> differences() {
		return Map.of("Retrofit NO_JSON", "no failure", "OkHttp NO_JSON", "no failure");
	}

	@ParameterizedTest(name = "{0} {1} {2} -> {3}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					429 | Retry-After: 2; retry-after-ms: 1200 | {"error":{"code":"rate_limit_exceeded"}} | RATE_LIMITED after 1.2s
					429 | x-a: b                               | {"error":{"code":"insufficient_quota"}}  | QUOTA_EXHAUSTED latches ACCOUNT
					400 | x-a: b                               | {"error":{"message":"bad"}}              | INVALID_REQUEST
					529 | x-a: b                               | ``                                       | OVERLOADED
					""")
	void readsStatusHeadersAndBodyOfAnErrorResponse(int status, String headers, String body, String expected) {
		try (FakeProvider provider = FakeProvider.answering(status, headers, body)) {
			Throwable thrown = catchThrowable(() -> chat(provider.url(), LONG).get());
			assertThat(thrown).hasCauseInstanceOf(HttpException.class);
			assertThat(Failures.judge(thrown, ProviderType.OPENAI)).isEqualTo(expected);
			assertThat(Failures.classify(thrown, ProviderType.OPENAI).status()).isEqualTo(status);
		}
	}

	@Test
	void leavesTheBodyForTheCallerToRead() throws IOException {
		String body = "{\"error\":{\"code\":\"insufficient_quota\"},\"x\":\"" + "x".repeat(100_000) + "\"}";
		try (FakeProvider provider = FakeProvider.answering(429, "", body)) {
			Throwable thrown = catchThrowable(() -> chat(provider.url(), LONG).get());
			assertThat(Failures.judge(thrown, ProviderType.OPENAI)).isEqualTo("QUOTA_EXHAUSTED latches ACCOUNT");
			assertThat(readBody(thrown)).isEqualTo(body);
			assertThat(Failures.judge(thrown)).startsWith("RATE_LIMITED");
		}
	}

	@Test
	void aCancelledCallIsCancelledAndATimeLimitForTheWholeCallIsATimeout() {
		try (FakeProvider provider = FakeProvider.silent()) {
			Call cancelled = new OkHttpClient().newCall(new Request.Builder().url(provider.url()).build());
			cancelled.cancel();
			assertThat(Failures.judge(catchThrowable(cancelled::execute))).isEqualTo("CANCELLED");
			OkHttpClient client = new OkHttpClient.Builder().callTimeout(SHORT).build();
			Call late = client.newCall(new Request.Builder().url(provider.url()).build());
			assertThat(Failures.judge(catchThrowable(late::execute))).isEqualTo("TIMEOUT");
		}
	}

	@Test
	void aDispatcherThatWasShutDownIsNoFailureOfTheProvider() {
		OkHttpClient client = new OkHttpClient();
		client.dispatcher().executorService().shutdown();
		try (FakeProvider provider = FakeProvider.silent()) {
			CompletableFuture<ResponseBody> future = retrofit(provider.url(), client).chat(body());
			Throwable thrown = catchThrowable(future::get);
			assertThat(thrown).isInstanceOf(ExecutionException.class).hasStackTraceContaining("executor rejected");
			assertThat(Failures.judge(thrown)).isEqualTo("APPLICATION");
		}
	}

	private static String readBody(Throwable thrown) throws IOException {
		HttpException http = (HttpException) Objects.requireNonNull(thrown.getCause());
		retrofit2.Response<?> response = Objects.requireNonNull(http.response());
		return Objects.requireNonNull(response.errorBody()).string();
	}

	private static CompletableFuture<ResponseBody> chat(String url, Duration timeout) {
		return retrofit(url, client(timeout)).chat(body());
	}

	private static Chat retrofit(String url, OkHttpClient client) {
		return new Retrofit.Builder().baseUrl(url).client(client).build().create(Chat.class);
	}

	private static String callOkHttp(String url, Duration timeout) throws IOException {
		Request request = new Request.Builder().url(url).post(body()).build();
		try (Response response = client(timeout).newCall(request).execute()) {
			ResponseBody body = response.body();
			return (body != null) ? body.string() : "";
		}
	}

	private static OkHttpClient client(Duration timeout) {
		return new OkHttpClient.Builder().retryOnConnectionFailure(false)
			.connectTimeout(timeout)
			.readTimeout(timeout)
			.build();
	}

	private static RequestBody body() {
		return RequestBody.create("hello", MediaType.get("text/plain"));
	}

	interface Chat {

		@POST("/")
		CompletableFuture<ResponseBody> chat(@Body RequestBody text);

	}

}
