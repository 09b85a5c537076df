package dev.llmresilience.failure;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.eventstream.HeaderValue;
import software.amazon.awssdk.http.Protocol;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.SdkEventLoopGroup;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.services.bedrockruntime.BedrockRuntimeAsyncClient;
import software.amazon.awssdk.services.bedrockruntime.BedrockRuntimeClient;
import software.amazon.awssdk.services.bedrockruntime.model.ContentBlock;
import software.amazon.awssdk.services.bedrockruntime.model.ConverseRequest;
import software.amazon.awssdk.services.bedrockruntime.model.ConverseStreamResponseHandler;
import software.amazon.awssdk.services.bedrockruntime.model.Message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for {@link AwsReader} with the exceptions of Bedrock's real clients.
 */
class AwsReaderTests extends ClientContract {

	private static final AwsCredentialsProvider CREDENTIALS = StaticCredentialsProvider
		.create(AwsBasicCredentials.create("test", "test"));

	// Closing one takes seconds; with a single thread, looking up a host takes for ever.
	private static final SdkEventLoopGroup THREADS = SdkEventLoopGroup.builder().numberOfThreads(4).build();

	@AfterAll
	static void closeThreads() {
		THREADS.eventLoopGroup().shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
	}

	@Override
	Map<String, Client> clients() {
		return Map.of("blocking", AwsReaderTests::call, "async", AwsReaderTests::callLater);
	}

	@Override
	Map<String, String> differences() {
		// The asynchronous client does not tell why it closed a connection.
		return Map.of("async SILENT_IN_HANDSHAKE", "CONNECTION", "async HANGS_UP_IN_HANDSHAKE", "CONNECTION",
				"async UNTRUSTED", "CONNECTION");
	}

	@ParameterizedTest(name = "{0} {1} {2} -> {3}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					429 | x-amzn-ErrorType: ThrottlingException:http://internal.amazon.com/ | {"message":"Too many tokens. Please retry after 6 seconds."}     | RATE_LIMITED after 6s
					429 | Retry-After: 2                                                    | {"error":{"code":"insufficient_quota"}}                         | QUOTA_EXHAUSTED after 2s latches ACCOUNT until 2026-10-01T00:00:02Z
					400 | x-amzn-ErrorType: ValidationException                             | {"message":"bad"}                                               | INVALID_REQUEST
					403 | x-amzn-ErrorType: AccessDeniedException                           | {"message":"no"}                                                | UNAUTHORIZED
					408 | x-amzn-ErrorType: ModelTimeoutException                           | {"message":"x"}                                                 | TIMEOUT
					500 | x-amzn-ErrorType: InternalServerException                         | {"message":"x"}                                                 | SERVER_ERROR
					502 | x-a: b                                                            | <html>Bad Gateway</html>                                        | TIMEOUT
					503 | x-amzn-ErrorType: ServiceUnavailableException                     | {"message":"x"}                                                 | OVERLOADED
					529 | x-a: b                                                            | ``                                                              | OVERLOADED
					""")
	void readsStatusHeadersAndNameOfAnErrorResponse(int status, String headers, String body, String expected) {
		try (FakeProvider provider = FakeProvider.answering(status, headers, body)) {
			assertThat(clients().values()).allSatisfy((client) -> {
				Throwable thrown = client.fail(provider.url());
				assertThat(Failures.judge(thrown, ProviderType.OPENAI)).isEqualTo(expected);
				assertThat(Failures.classify(thrown, ProviderType.OPENAI).status()).isEqualTo(status);
			});
		}
	}

	@Test
	void theNameOfTheExceptionIsTheCode() {
		try (FakeProvider provider = FakeProvider.answering(429, "x-amzn-ErrorType: ThrottlingException:http://x/",
				"{}")) {
			Throwable thrown = catchThrowable(() -> call(provider.url(), LONG));
			assertThat(Failures.classify(thrown, ProviderType.BEDROCK).code()).isEqualTo("ThrottlingException");
		}
	}

	@ParameterizedTest(name = "{0} -> {1}")
	@CsvSource({ "throttlingException, RATE_LIMITED after 6s", "serviceUnavailableException, OVERLOADED after 6s",
			"internalServerException, SERVER_ERROR after 6s", "validationException, INVALID_REQUEST after 6s",
			"newException, SERVER_ERROR after 6s" })
	void readsAnErrorWithinAStream(String type, String expected) {
		byte[] event = event(type, "{\"message\":\"Please retry after 6 seconds.\"}");
		try (FakeProvider provider = FakeProvider.answering(200, "Content-Type: application/vnd.amazon.eventstream",
				event)) {
			Throwable thrown = catchThrowable(() -> stream(provider.url()));
			assertThat(thrown).hasCauseInstanceOf(AwsServiceException.class);
			assertThat(Failures.judge(thrown)).isEqualTo(expected);
			assertThat(Failures.classify(thrown, ProviderType.BEDROCK).code()).isEqualTo(type);
		}
	}

	@Test
	void aTimeLimitForTheWholeCallIsATimeout() {
		try (FakeProvider provider = FakeProvider.silent();
				BedrockRuntimeClient client = BedrockRuntimeClient.builder()
					.endpointOverride(URI.create(provider.url()))
					.region(Region.US_EAST_1)
					.credentialsProvider(CREDENTIALS)
					.overrideConfiguration((config) -> withoutRetries(config).apiCallTimeout(SHORT))
					.build()) {
			Throwable thrown = catchThrowable(() -> client.converse(request()));
			assertThat(thrown).isInstanceOf(ApiCallTimeoutException.class);
			assertThat(Failures.judge(thrown)).isEqualTo("TIMEOUT");
		}
	}

	@Test
	void anInterruptedCallIsCancelled() {
		try (FakeProvider provider = FakeProvider.silent()) {
			Thread.currentThread().interrupt();
			Throwable thrown = catchThrowable(() -> call(provider.url(), LONG));
			assertThat(Thread.interrupted()).isTrue();
			assertThat(thrown).isInstanceOf(AbortedException.class);
			assertThat(Failures.judge(thrown)).isEqualTo("CANCELLED");
			assertThat(Failures.judge(AbortedException.create("Thread was interrupted"))).isEqualTo("CANCELLED");
		}
	}

	@Test
	void missingCredentialsAreTheCallersAffair() {
		assertThat(Failures.judge(SdkClientException.create("Unable to load credentials"))).isEqualTo("APPLICATION");
	}

	@Test
	void anExceptionWithoutDetailsHasItsStatus() {
		assertThat(Failures.judge(AwsServiceException.builder().statusCode(503).build())).isEqualTo("OVERLOADED");
	}

	private static Object call(String url, Duration timeout) {
		try (BedrockRuntimeClient client = BedrockRuntimeClient.builder()
			.endpointOverride(URI.create(url))
			.region(Region.US_EAST_1)
			.credentialsProvider(CREDENTIALS)
			.overrideConfiguration(AwsReaderTests::withoutRetries)
			.httpClientBuilder(Apache5HttpClient.builder().connectionTimeout(timeout).socketTimeout(timeout))
			.build()) {
			return client.converse(request());
		}
	}

	private static Object callLater(String url, Duration timeout) throws Exception {
		try (BedrockRuntimeAsyncClient client = asyncClient(url, timeout)) {
			return client.converse(request()).get();
		}
	}

	private static @Nullable Object stream(String url) throws Exception {
		try (BedrockRuntimeAsyncClient client = asyncClient(url, LONG)) {
			CompletableFuture<Void> future = client.converseStream((request) -> request.modelId("x"),
					ConverseStreamResponseHandler.builder()
						.subscriber(ConverseStreamResponseHandler.Visitor.builder().build())
						.build());
			return future.get();
		}
	}

	private static BedrockRuntimeAsyncClient asyncClient(String url, Duration timeout) {
		return BedrockRuntimeAsyncClient.builder()
			.endpointOverride(URI.create(url))
			.region(Region.US_EAST_1)
			.credentialsProvider(CREDENTIALS)
			.overrideConfiguration(AwsReaderTests::withoutRetries)
			.httpClientBuilder(NettyNioAsyncHttpClient.builder()
				.eventLoopGroup(THREADS)
				.protocol(Protocol.HTTP1_1)
				.connectionTimeout(timeout)
				.tlsNegotiationTimeout(timeout)
				.readTimeout(timeout))
			.build();
	}

	private static ClientOverrideConfiguration.Builder withoutRetries(ClientOverrideConfiguration.Builder config) {
		return config.retryStrategy(DefaultRetryStrategy.doNotRetry());
	}

	private static ConverseRequest request() {
		return ConverseRequest.builder()
			.modelId("x")
			.messages(Message.builder().role("user").content(ContentBlock.fromText("hello")).build())
			.build();
	}

	private static byte[] event(String exceptionType, String payload) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		new software.amazon.awssdk.eventstream.Message(Map.of(":message-type", HeaderValue.fromString("exception"),
				":exception-type", HeaderValue.fromString(exceptionType), ":content-type",
				HeaderValue.fromString("application/json")), payload.getBytes(StandardCharsets.UTF_8))
			.encode(bytes);
		return bytes.toByteArray();
	}

}
