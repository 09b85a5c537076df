package dev.llmresilience.http;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import dev.llmresilience.Priority;
import dev.llmresilience.engine.BlockingDriver;
import dev.llmresilience.engine.BlockingDriver.Body;
import dev.llmresilience.engine.CallEngine;
import dev.llmresilience.engine.CallOptions;
import dev.llmresilience.engine.CallSettings;
import dev.llmresilience.engine.GuardListener;
import dev.llmresilience.engine.ProviderSettings;
import dev.llmresilience.engine.Providers;
import dev.llmresilience.failure.DefaultFailureClassifier;
import dev.llmresilience.failure.ProviderType;
import dev.llmresilience.http.HooksTests.Client;
import dev.llmresilience.policy.Jitter;
import dev.llmresilience.policy.RetryPolicy;
import dev.llmresilience.test.ScriptedProvider;
import dev.llmresilience.test.ScriptedProvider.Answer;
import dev.llmresilience.time.SystemTimeSource;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.web.client.RestClient;
import org.springframework.web.reactive.function.client.WebClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The idempotency key on requests of protected calls, over real connections.
 */
class IdempotencyKeysTests {

	private static final String HEADER = "Idempotency-Key";

	private static final Answer FAILURE = ScriptedProvider.answer(500, "{\"error\":{\"message\":\"broken\"}}");

	private static final String KEY = "llm-[0-9a-z]+-";

	private final SystemTimeSource time = new SystemTimeSource();

	private final ResponseLimits limits = new ResponseLimits(this.time);

	@AfterEach
	void close() {
		this.time.close();
	}

	static Stream<Client> clients() {
		return HooksTests.clients();
	}

	@ParameterizedTest
	@MethodSource("clients")
	void allAttemptsCarryTheSameKey(Client client) throws Throwable {
		try (ScriptedProvider provider = ScriptedProvider.answering(FAILURE, FAILURE, success(client))) {
			protectedCall(HEADER, () -> client.call(this.limits, provider.url()));
			assertThat(provider.sent(HEADER)).hasSize(3).allSatisfy(IdempotencyKeysTests::isTheFirstRequest);
			assertThat(provider.sent(HEADER)).containsOnly(provider.sent(HEADER).get(0));
		}
	}

	@ParameterizedTest
	@MethodSource("clients")
	void eachRequestOfAnAttemptCarriesAnotherKeyAndTheSameInTheNextAttempt(Client client) throws Throwable {
		Answer success = success(client);
		try (ScriptedProvider provider = ScriptedProvider.answering(success, FAILURE, success, success)) {
			protectedCall(HEADER, () -> {
				client.call(this.limits, provider.url());
				return client.call(this.limits, provider.url());
			});
			List<List<String>> keys = provider.sent(HEADER);
			assertThat(keys).hasSize(4);
			assertThat(keys.get(0)).isNotEqualTo(keys.get(1));
			assertThat(keys.subList(2, 4)).isEqualTo(keys.subList(0, 2));
		}
	}

	@ParameterizedTest
	@MethodSource("clients")
	void anotherCallHasOtherKeys(Client client) throws Throwable {
		try (ScriptedProvider provider = ScriptedProvider.answering(success(client))) {
			protectedCall(HEADER, () -> client.call(this.limits, provider.url()));
			protectedCall(HEADER, () -> client.call(this.limits, provider.url()));
			assertThat(provider.sent(HEADER)).hasSize(2).doesNotHaveDuplicates();
		}
	}

	@ParameterizedTest
	@MethodSource("clients")
	void anEntryWithoutTheHeaderSendsNone(Client client) throws Throwable {
		try (ScriptedProvider provider = ScriptedProvider.answering(success(client))) {
			protectedCall(null, () -> client.call(this.limits, provider.url()));
			assertThat(provider.sent(HEADER)).containsExactly(List.of());
		}
	}

	@ParameterizedTest
	@MethodSource("clients")
	void outsideOfAProtectedCallNoneIsSent(Client client) throws Exception {
		try (ScriptedProvider provider = ScriptedProvider.answering(success(client))) {
			client.call(this.limits, provider.url());
			assertThat(provider.sent(HEADER)).containsExactly(List.of());
		}
	}

	static Stream<Client> clientsWithAKeyOfTheirOwn() {
		return Stream.of(new Client("RestClient", IdempotencyKeysTests::restClient, false),
				new Client("WebClient", IdempotencyKeysTests::webClient, false),
				new Client("OkHttp", IdempotencyKeysTests::okHttp, false),
				new Client("OpenAI's SDK", IdempotencyKeysTests::openAi, false),
				new Client("Anthropic's SDK", IdempotencyKeysTests::anthropic, true));
	}

	@ParameterizedTest
	@MethodSource("clientsWithAKeyOfTheirOwn")
	void aRequestKeepsTheKeyThatItHas(Client client) throws Throwable {
		try (ScriptedProvider provider = ScriptedProvider.answering(success(client))) {
			protectedCall(HEADER, () -> client.call(this.limits, provider.url()));
			assertThat(provider.sent(HEADER)).containsExactly(List.of("mine"));
		}
	}

	static Stream<Client> clientsThatRetryOnce() {
		return Stream.of(
				new Client("OpenAI's SDK",
						(limits, url) -> new OpenAiHook(limits)
							.observe(OpenAIOkHttpClient.builder().apiKey("test").baseUrl(url).maxRetries(1).build())
							.chat()
							.completions()
							.create(HooksTests.completion()),
						false),
				new Client("Anthropic's SDK",
						(limits, url) -> new AnthropicHook(limits)
							.observe(AnthropicOkHttpClient.builder().apiKey("test").baseUrl(url).maxRetries(1).build())
							.messages()
							.create(HooksTests.message()),
						true));
	}

	@ParameterizedTest
	@MethodSource("clientsThatRetryOnce")
	void aRequestThatAnSdkSendsAgainKeepsItsKeyAndCountsOnce(Client client) throws Throwable {
		Answer success = success(client);
		try (ScriptedProvider provider = ScriptedProvider.answering(FAILURE, success, success)) {
			protectedCall(HEADER, () -> {
				client.call(this.limits, provider.url());
				return client.call(this.limits, provider.url());
			});
			List<List<String>> keys = provider.sent(HEADER);
			assertThat(keys).hasSize(3);
			assertThat(keys.get(1)).isEqualTo(keys.get(0)).singleElement().asString().matches(KEY + "1");
			assertThat(keys.get(2)).singleElement().asString().matches(KEY + "2");
		}
	}

	/** A number that never changes says nothing about what is sent again. */
	@Test
	void aRetryCountThatTheCallerSetsDoesNotKeepAKey() throws Throwable {
		try (ScriptedProvider provider = ScriptedProvider.answering(ScriptedProvider.answer(200, "{}"))) {
			RestClient client = RestClient.builder()
				.requestInterceptor(new RestClientHook(this.limits))
				.defaultHeader("X-Stainless-Retry-Count", "7")
				.build();
			protectedCall(HEADER, () -> {
				client.get().uri(provider.url()).retrieve().toBodilessEntity();
				return client.get().uri(provider.url()).retrieve().toBodilessEntity();
			});
			assertThat(provider.sent(HEADER)).hasSize(2).doesNotHaveDuplicates();
		}
	}

	private static void isTheFirstRequest(List<String> keys) {
		assertThat(keys).singleElement().asString().matches(KEY + "1");
	}

	private void protectedCall(@Nullable String header, Body<Object> body) throws Throwable {
		ProviderSettings defaults = ProviderSettings.defaults("p");
		RetryPolicy policy = RetryPolicy.DEFAULTS.withBackoff(Jitter.NONE, Duration.ofMillis(1), Duration.ofMillis(1))
			.withRetryAfter(Duration.ZERO, Duration.ofMinutes(1));
		ProviderSettings settings = new ProviderSettings("p", ProviderType.GENERIC, "p", List.of(), policy,
				CallSettings.DEFAULTS.withIdempotencyKeyHeader(header), defaults.limiter(), null, defaults.budget(),
				defaults.breaker(), defaults.quotaCoolDown());
		try (CallEngine engine = new CallEngine(this.time, new DefaultFailureClassifier());
				Providers providers = new Providers(List.of(settings), this.time, GuardListener.NONE)) {
			CallOptions options = new CallOptions(policy, Integer.MAX_VALUE, true, Priority.NORMAL,
					List.of(RuntimeException.class), List.of());
			assertThat(new BlockingDriver(engine).call(providers.get("p"), options, body, null)).isNotNull();
		}
	}

	private static Answer success(Client client) {
		return ScriptedProvider.answer(200, client.anthropic() ? HooksTests.MESSAGE : HooksTests.COMPLETION);
	}

	private static @Nullable Object restClient(ResponseLimits limits, String url) {
		return RestClient.builder()
			.requestInterceptor(new RestClientHook(limits))
			.build()
			.get()
			.uri(url)
			.header(HEADER, "mine")
			.retrieve()
			.toBodilessEntity();
	}

	private static @Nullable Object webClient(ResponseLimits limits, String url) {
		return WebClient.builder()
			.filter(new WebClientHook(limits))
			.build()
			.get()
			.uri(url)
			.header(HEADER, "mine")
			.retrieve()
			.toBodilessEntity()
			.block();
	}

	private static Object okHttp(ResponseLimits limits, String url) throws Exception {
		OkHttpClient client = new OkHttpClient.Builder().addInterceptor(new OkHttpHook(limits)).build();
		Request request = new Request.Builder().url(url).header(HEADER, "mine").build();
		try (Response response = client.newCall(request).execute()) {
			return response.code();
		}
	}

	private static Object openAi(ResponseLimits limits, String url) {
		return new OpenAiHook(limits).observe(OpenAIOkHttpClient.builder().apiKey("test").baseUrl(url).build())
			.chat()
			.completions()
			.create(HooksTests.completion().toBuilder().putAdditionalHeader(HEADER, "mine").build());
	}

	private static Object anthropic(ResponseLimits limits, String url) {
		return new AnthropicHook(limits).observe(AnthropicOkHttpClient.builder().apiKey("test").baseUrl(url).build())
			.messages()
			.create(HooksTests.message().toBuilder().putAdditionalHeader(HEADER, "mine").build());
	}

}
