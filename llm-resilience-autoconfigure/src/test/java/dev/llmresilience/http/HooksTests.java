package dev.llmresilience.http;

import java.lang.reflect.Proxy;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClientAsync;
import com.anthropic.models.messages.MessageCreateParams;
import com.openai.client.OpenAIClient;
import com.openai.client.OpenAIClientAsync;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.client.okhttp.OpenAIOkHttpClientAsync;
import com.openai.core.http.HttpRequestAuthenticator;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import dev.llmresilience.RateLimitSnapshot;
import dev.llmresilience.RateLimitSnapshot.Dimension;
import dev.llmresilience.engine.BlockingDriver;
import dev.llmresilience.engine.BlockingDriver.Body;
import dev.llmresilience.engine.CallEngine;
import dev.llmresilience.engine.CallOptions;
import dev.llmresilience.engine.Exchange;
import dev.llmresilience.engine.GuardListener;
import dev.llmresilience.engine.Provider;
import dev.llmresilience.engine.ProviderSettings;
import dev.llmresilience.engine.Providers;
import dev.llmresilience.failure.DefaultFailureClassifier;
import dev.llmresilience.failure.FakeProvider;
import dev.llmresilience.failure.ProviderType;
import dev.llmresilience.policy.RetryPolicy;
import dev.llmresilience.time.SystemTimeSource;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.http.client.reactive.JdkClientHttpConnector;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.test.util.ReflectionTestUtils;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;
import org.springframework.web.reactive.function.client.WebClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * What each client library's hook hears of responses, over real connections.
 */
class HooksTests {

	private static final Duration RESET = Duration.ofMinutes(5);

	private static final String OPENAI_HEADERS = """
			x-ratelimit-limit-requests: 50; x-ratelimit-remaining-requests: 49; x-ratelimit-reset-requests: 5m0s""";

	static final String MESSAGE = """
			{"id":"msg_x","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"hi"}],
			"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}""";

	static final String COMPLETION = """
			{"id":"x","object":"chat.completion","created":1,"model":"x","choices":[{"index":0,"finish_reason":"stop",
			"logprobs":null,"message":{"role":"assistant","content":"hi","refusal":null}}]}""";

	private static final String ERROR = """
			{"type":"error","error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"slow down"}}""";

	private final SystemTimeSource time = new SystemTimeSource();

	private final List<RateLimitSnapshot> heard = new CopyOnWriteArrayList<>();

	private final ResponseLimits limits = limits((exchange, snapshots) -> this.heard.addAll(snapshots));

	@AfterEach
	void close() {
		this.time.close();
	}

	static Stream<Client> clients() {
		Map<String, Call> openAi = new LinkedHashMap<>();
		openAi.put("RestClient", HooksTests::restClient);
		openAi.put("RestTemplate", HooksTests::restTemplate);
		openAi.put("WebClient over Reactor Netty", HooksTests::webClientOverNetty);
		openAi.put("WebClient over the JDK's client", HooksTests::webClientOverJdk);
		openAi.put("OkHttp", HooksTests::okHttp);
		openAi.put("Spring AI's OpenAI model", HooksTests::springAiOpenAi);
		openAi.put("OpenAI's SDK", (limits, url) -> openAi(limits, url, 0).chat().completions().create(completion()));
		openAi.put("OpenAI's SDK, asynchronous client",
				(limits, url) -> openAiAsync(limits, url).sync().chat().completions().create(completion()));
		Map<String, Call> anthropic = new LinkedHashMap<>();
		anthropic.put("Anthropic's SDK", (limits, url) -> anthropic(limits, url, 0).messages().create(message()));
		anthropic.put("Anthropic's SDK, asynchronously",
				(limits, url) -> anthropic(limits, url, 0).async().messages().create(message()).join());
		anthropic.put("Anthropic's SDK, asynchronous client", HooksTests::anthropicAsync);
		return Stream.concat(
				openAi.entrySet().stream().map((call) -> new Client(call.getKey(), call.getValue(), false)),
				anthropic.entrySet().stream().map((call) -> new Client(call.getKey(), call.getValue(), true)));
	}

	@ParameterizedTest
	@MethodSource("clients")
	void aSuccessIsHeard(Client client) throws Throwable {
		try (FakeProvider provider = client.answering(200)) {
			assertThat(protectedCall(client, List.of("localhost"), () -> client.call(this.limits, provider.url())))
				.isNotNull();
			assertThatLimitsWereHeard();
		}
	}

	@ParameterizedTest
	@MethodSource("clients")
	void aFailureIsHeard(Client client) {
		try (FakeProvider provider = client.answering(429)) {
			assertThatException()
				.isThrownBy(() -> protectedCall(client, List.of(), () -> client.call(this.limits, provider.url())));
			assertThatLimitsWereHeard();
		}
	}

	@ParameterizedTest
	@MethodSource("clients")
	void outsideOfAProtectedCallNothingIsHeard(Client client) throws Exception {
		try (FakeProvider provider = client.answering(200)) {
			assertThat(client.call(this.limits, provider.url())).isNotNull();
			assertThat(this.heard).isEmpty();
		}
	}

	@Test
	void outsideOfAProtectedCallTheHookOfRestClientTouchesNeitherRequestNorResponse() throws Exception {
		HttpRequest request = untouchable(HttpRequest.class);
		ClientHttpResponse response = untouchable(ClientHttpResponse.class);
		byte[] body = {};
		assertThat(new RestClientHook(this.limits).intercept(request, body, (passedOn, bytes) -> {
			assertThat(passedOn).isSameAs(request);
			assertThat(bytes).isSameAs(body);
			return response;
		})).isSameAs(response);
	}

	private static <T> T untouchable(Class<T> type) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				throw new IllegalStateException(method.getName());
			}));
	}

	@ParameterizedTest
	@MethodSource("clients")
	void aHostThatDoesNotCountIsNotHeard(Client client) throws Throwable {
		try (FakeProvider provider = client.answering(200)) {
			assertThat(
					protectedCall(client, List.of("api.example.com"), () -> client.call(this.limits, provider.url())))
				.isNotNull();
			assertThat(this.heard).isEmpty();
		}
	}

	@ParameterizedTest
	@MethodSource("clients")
	void whatGoesWrongInAHookDoesNotReachTheRequest(Client client) throws Throwable {
		ResponseLimits broken = limits((exchange, snapshots) -> {
			this.heard.addAll(snapshots);
			throw new IllegalStateException("hook");
		});
		try (FakeProvider provider = client.answering(200)) {
			assertThat(protectedCall(client, List.of(), () -> client.call(broken, provider.url()))).isNotNull();
			assertThatLimitsWereHeard();
		}
	}

	/**
	 * The SDK sends them from the common pool, where nobody knows whose they are.
	 */
	@Test
	void asynchronousRequestsOfOpenAisSdkBelongToNoCall() throws Throwable {
		Client client = new Client("",
				(limits, url) -> openAiAsync(limits, url).chat().completions().create(completion()).join(), false);
		try (FakeProvider provider = client.answering(200)) {
			assertThat(protectedCall(client, List.of(), () -> client.call(this.limits, provider.url()))).isNotNull();
			assertThat(this.heard).isEmpty();
		}
	}

	@Test
	void whatTheSdksRetryThemselvesIsHeardEachTime() {
		Client openAi = new Client("",
				(limits, url) -> openAi(limits, url, 1).chat().completions().create(completion()), false);
		try (FakeProvider provider = openAi.answering(429)) {
			assertThatException()
				.isThrownBy(() -> protectedCall(openAi, List.of(), () -> openAi.call(this.limits, provider.url())));
		}
		assertThat(this.heard).hasSize(2);
		Client anthropic = new Client("", (limits, url) -> anthropic(limits, url, 1).messages().create(message()),
				true);
		try (FakeProvider provider = anthropic.answering(429)) {
			assertThatException().isThrownBy(
					() -> protectedCall(anthropic, List.of(), () -> anthropic.call(this.limits, provider.url())));
		}
		assertThat(this.heard).hasSize(4);
	}

	/**
	 * Signing a request twice may spoil it, and nobody sees which layers a client has.
	 */
	@Test
	void aClientOfOpenAisSdkThatSignsItsRequestsIsLeftAlone() throws Throwable {
		AtomicInteger signed = new AtomicInteger();
		HttpRequestAuthenticator signature = (request) -> {
			signed.incrementAndGet();
			return request;
		};
		OpenAIOkHttpClient.Builder builder = OpenAIOkHttpClient.builder().maxRetries(0);
		// The SDK shows this to Kotlin only.
		ReflectionTestUtils.invokeMethod(builder, "httpRequestAuthenticator", signature);
		OpenAIClient signing = builder.build();
		Client client = new Client("",
				(limits, url) -> new OpenAiHook(limits).observe(signing.withOptions((options) -> options.baseUrl(url)))
					.chat()
					.completions()
					.create(completion()),
				false);
		try (FakeProvider provider = client.answering(200)) {
			assertThat(protectedCall(client, List.of(), () -> client.call(this.limits, provider.url()))).isNotNull();
			assertThat(signed).hasValue(1);
			assertThat(this.heard).isEmpty();
		}
	}

	private void assertThatLimitsWereHeard() {
		assertThat(this.heard).singleElement().satisfies((snapshot) -> {
			assertThat(snapshot.dimension()).isEqualTo(Dimension.REQUESTS);
			assertThat(snapshot.limit()).isEqualTo(50);
			assertThat(snapshot.remaining()).isEqualTo(49);
			assertThat(snapshot.reset()).isCloseTo(RESET, Duration.ofMinutes(1));
		});
	}

	private ResponseLimits limits(BiConsumer<Exchange, List<RateLimitSnapshot>> receiver) {
		return new ResponseLimits(this.time, receiver);
	}

	private Object protectedCall(Client client, List<String> hosts, Body<Object> body) throws Throwable {
		ProviderSettings defaults = ProviderSettings.defaults("p");
		ProviderSettings settings = new ProviderSettings("p",
				client.anthropic() ? ProviderType.ANTHROPIC : ProviderType.OPENAI, "p", hosts, RetryPolicy.DEFAULTS,
				defaults.calls(), defaults.limiter(), null, defaults.budget(), defaults.breaker(),
				defaults.quotaCoolDown());
		try (CallEngine engine = new CallEngine(this.time, new DefaultFailureClassifier());
				Providers providers = new Providers(List.of(settings), this.time, GuardListener.NONE)) {
			Provider provider = providers.get("p");
			CallOptions once = CallOptions.of(RetryPolicy.DEFAULTS.withAttempts(1, 0));
			return new BlockingDriver(engine).call(provider, once, body, null);
		}
	}

	private static @Nullable Object restClient(ResponseLimits limits, String url) {
		return RestClient.builder()
			.requestInterceptor(new RestClientHook(limits))
			.build()
			.post()
			.uri(url)
			.body("hello")
			.retrieve()
			.body(Map.class);
	}

	private static @Nullable Object restTemplate(ResponseLimits limits, String url) {
		RestTemplate template = new RestTemplate();
		template.getInterceptors().add(new RestClientHook(limits));
		return template.postForObject(url, "hello", Map.class);
	}

	private static @Nullable Object webClientOverNetty(ResponseLimits limits, String url) {
		return webClient(WebClient.builder().clientConnector(new ReactorClientHttpConnector()), limits, url);
	}

	private static @Nullable Object webClientOverJdk(ResponseLimits limits, String url) {
		JdkClientHttpConnector connector = new JdkClientHttpConnector(HttpClient.newHttpClient());
		return webClient(WebClient.builder().clientConnector(connector), limits, url);
	}

	private static @Nullable Object webClient(WebClient.Builder builder, ResponseLimits limits, String url) {
		return builder.filter(new WebClientHook(limits))
			.build()
			.post()
			.uri(url)
			.bodyValue("hello")
			.retrieve()
			.bodyToMono(Map.class)
			.block();
	}

	private static Object okHttp(ResponseLimits limits, String url) throws Exception {
		OkHttpClient client = new OkHttpClient.Builder().addInterceptor(new OkHttpHook(limits)).build();
		try (Response response = client.newCall(new Request.Builder().url(url).build()).execute()) {
			if (!response.isSuccessful()) {
				throw new IllegalStateException("" + response.code());
			}
			return response.code();
		}
	}

	private static @Nullable Object springAiOpenAi(ResponseLimits limits, String url) {
		return OpenAiChatModel.builder()
			.httpClientBuilderCustomizers(List.of((builder) -> builder.interceptor(new OkHttpHook(limits))))
			.options(OpenAiChatOptions.builder().baseUrl(url).apiKey("test").model("gpt-x").maxRetries(0).build())
			.build()
			.call("hello");
	}

	private static AnthropicClient anthropic(ResponseLimits limits, String url, int retries) {
		return new AnthropicHook(limits)
			.observe(AnthropicOkHttpClient.builder().apiKey("test").baseUrl(url).maxRetries(retries).build());
	}

	private static Object anthropicAsync(ResponseLimits limits, String url) {
		return new AnthropicHook(limits)
			.observe(AnthropicOkHttpClientAsync.builder().apiKey("test").baseUrl(url).maxRetries(0).build())
			.messages()
			.create(message())
			.join();
	}

	private static OpenAIClient openAi(ResponseLimits limits, String url, int retries) {
		return new OpenAiHook(limits)
			.observe(OpenAIOkHttpClient.builder().apiKey("test").baseUrl(url).maxRetries(retries).build());
	}

	private static OpenAIClientAsync openAiAsync(ResponseLimits limits, String url) {
		return new OpenAiHook(limits)
			.observe(OpenAIOkHttpClientAsync.builder().apiKey("test").baseUrl(url).maxRetries(0).build());
	}

	static MessageCreateParams message() {
		return MessageCreateParams.builder().model("claude-x").maxTokens(1).addUserMessage("hello").build();
	}

	static ChatCompletionCreateParams completion() {
		return ChatCompletionCreateParams.builder().model("gpt-x").addUserMessage("hello").build();
	}

	private static String anthropicHeaders() {
		return """
				anthropic-ratelimit-requests-limit: 50; anthropic-ratelimit-requests-remaining: 49;
				anthropic-ratelimit-requests-reset:\s""" + Instant.now().plus(RESET);
	}

	/** Makes a request with a client that has the hook. */
	@FunctionalInterface
	interface Call {

		@Nullable Object run(ResponseLimits limits, String url) throws Exception;

	}

	record Client(String name, Call call, boolean anthropic) {

		Object call(ResponseLimits limits, String url) throws Exception {
			return Objects.requireNonNull(this.call.run(limits, url));
		}

		FakeProvider answering(int status) {
			return FakeProvider.answering(status, (this.anthropic ? anthropicHeaders() : OPENAI_HEADERS) + "; x-a: b",
					(status != 200) ? ERROR : this.anthropic ? MESSAGE : COMPLETION);
		}

		@Override
		public String toString() {
			return this.name;
		}

	}

}
