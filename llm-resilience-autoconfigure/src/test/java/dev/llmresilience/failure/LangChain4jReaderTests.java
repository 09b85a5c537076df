package dev.llmresilience.failure;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import dev.langchain4j.exception.AuthenticationException;
import dev.langchain4j.exception.ContentFilteredException;
import dev.langchain4j.exception.HttpException;
import dev.langchain4j.exception.InternalServerException;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.LangChain4jException;
import dev.langchain4j.exception.ModelNotFoundException;
import dev.langchain4j.exception.RateLimitException;
import dev.langchain4j.exception.TimeoutException;
import dev.langchain4j.exception.UnresolvedModelServerException;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Tests for {@link LangChain4jReader} with the exceptions of real models.
 */
class LangChain4jReaderTests extends ClientContract {

	@Override
	Map<String, Client> clients() {
		return Map.of("blocking", LangChain4jReaderTests::chat, "streaming", LangChain4jReaderTests::stream);
	}

	@Override
	Map<String, String> differences() {
		// What is no event is skipped.
		return Map.of("streaming NO_JSON", "no failure");
	}

	@ParameterizedTest(name = "{0} {1} -> {2}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					429 | {"error":{"code":"rate_limit_exceeded","message":"Limit 10000, Used 5775, Requested 4301. Please try again in 456ms."}} | RATE_LIMITED after 0.456s
					429 | {"error":{"code":"insufficient_quota","message":"quota"}} | QUOTA_EXHAUSTED latches ACCOUNT
					429 | ``                                                        | RATE_LIMITED retries<=1
					400 | {"error":{"message":"bad"}}                               | INVALID_REQUEST
					401 | {"error":{"code":"invalid_api_key"}}                      | UNAUTHORIZED
					404 | {"error":{"code":"model_not_found"}}                      | INVALID_REQUEST
					408 | ``                                                        | TIMEOUT
					409 | ``                                                        | CONFLICT
					500 | {"error":{"message":"x"}}                                 | SERVER_ERROR
					503 | <html>busy</html>                                         | OVERLOADED
					529 | ``                                                        | OVERLOADED
					""")
	void readsStatusAndBodyOfAnErrorResponse(int status, String body, String expected) {
		try (FakeProvider provider = FakeProvider.answering(status, "Retry-After: 9", body)) {
			assertThat(clients().values()).allSatisfy((client) -> {
				Throwable thrown = client.fail(provider.url());
				assertThat(Failures.judge(thrown, ProviderType.OPENAI)).isEqualTo(expected);
				assertThat(Failures.classify(thrown, ProviderType.OPENAI).status()).isEqualTo(status);
			});
		}
	}

	static Stream<Arguments> exceptionsWithoutAResponse() {
		return Stream.of(arguments(new RateLimitException("Please try again in 2s"), "RATE_LIMITED after 2s"),
				arguments(new RateLimitException((String) null), "RATE_LIMITED retries<=1"),
				arguments(new RateLimitException("x", new IllegalStateException()), "RATE_LIMITED retries<=1"),
				arguments(new RateLimitException(new HttpException(429, "")), "RATE_LIMITED retries<=1"),
				arguments(new RateLimitException(new HttpException(503, "")), "OVERLOADED"),
				arguments(new InternalServerException("x"), "SERVER_ERROR"),
				arguments(new AuthenticationException("x"), "UNAUTHORIZED"),
				arguments(new ModelNotFoundException("x"), "INVALID_REQUEST"),
				arguments(new InvalidRequestException("x"), "INVALID_REQUEST"),
				arguments(new ContentFilteredException("x"), "INVALID_REQUEST"),
				arguments(new TimeoutException("x"), "TIMEOUT"),
				arguments(new UnresolvedModelServerException("x"), "CONNECTION unsent retries<=1"),
				arguments(new LangChain4jException("x"), "APPLICATION"));
	}

	@ParameterizedTest
	@MethodSource("exceptionsWithoutAResponse")
	void theTypeTellsWhereNoResponseDoes(Throwable thrown, String expected) {
		assertThat(Failures.judge(thrown)).isEqualTo(expected);
		assertThat(Failures.judge(new ExecutionException(thrown))).isEqualTo(expected);
	}

	@Test
	void anInterruptedCallIsCancelled() {
		try (FakeProvider provider = FakeProvider.silent()) {
			Thread.currentThread().interrupt();
			Throwable thrown = catchThrowable(() -> chat(provider.url(), LONG));
			assertThat(Thread.interrupted()).isTrue();
			assertThat(Failures.judge(thrown)).isEqualTo("CANCELLED");
		}
	}

	@Test
	void aBugWithinTheCallIsTheCallersOwn() {
		OpenAiChatModel model = model(FakeProvider.refusingUrl(), LONG);
		assertThat(Failures.judge(catchThrowable(() -> model.chat((String) null)))).isEqualTo("APPLICATION");
	}

	private static String chat(String url, Duration timeout) {
		return model(url, timeout).chat("hello");
	}

	private static OpenAiChatModel model(String url, Duration timeout) {
		return OpenAiChatModel.builder()
			.baseUrl(url)
			.apiKey("test")
			.modelName("gpt-x")
			.maxRetries(0)
			.timeout(timeout)
			.build();
	}

	private static ChatResponse stream(String url, Duration timeout) throws Exception {
		CompletableFuture<ChatResponse> future = new CompletableFuture<>();
		OpenAiStreamingChatModel.builder()
			.baseUrl(url)
			.apiKey("test")
			.modelName("gpt-x")
			.timeout(timeout)
			.build()
			.chat("hello", new StreamingChatResponseHandler() {

				@Override
				public void onCompleteResponse(ChatResponse response) {
					future.complete(response);
				}

				@Override
				public void onError(Throwable error) {
					future.completeExceptionally(error);
				}

			});
		return future.get(1, TimeUnit.MINUTES);
	}

}
