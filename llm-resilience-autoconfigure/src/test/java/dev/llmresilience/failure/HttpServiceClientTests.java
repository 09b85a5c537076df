package dev.llmresilience.failure;

import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.support.RestClientAdapter;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.support.WebClientAdapter;
import org.springframework.web.service.annotation.PostExchange;
import org.springframework.web.service.invoker.HttpExchangeAdapter;
import org.springframework.web.service.invoker.HttpServiceProxyFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for {@link SpringWebReader} and {@link WebClientReader} below HTTP service
 * clients.
 */
class HttpServiceClientTests {

	static Stream<HttpExchangeAdapter> adapters() {
		// The one that is found on the class path would retry by itself.
		RestClient restClient = RestClient.builder().requestFactory(new JdkClientHttpRequestFactory()).build();
		return Stream.of(RestClientAdapter.create(restClient), WebClientAdapter.create(WebClient.create()));
	}

	@ParameterizedTest
	@MethodSource("adapters")
	void readsStatusHeadersAndBodyOfAnErrorResponse(HttpExchangeAdapter adapter) {
		try (FakeProvider provider = FakeProvider.answering(429, "Retry-After: 2", """
				{"error":{"code":"insufficient_quota"}}""")) {
			Throwable thrown = call(adapter, provider.url());
			assertThat(Failures.classify(thrown, ProviderType.OPENAI).code()).isEqualTo("insufficient_quota");
			assertThat(Failures.judge(thrown)).contains("after 2s");
		}
	}

	@ParameterizedTest
	@MethodSource("adapters")
	void aRefusedConnectionWasNotSent(HttpExchangeAdapter adapter) {
		assertThat(Failures.judge(call(adapter, FakeProvider.refusingUrl()))).isEqualTo("CONNECTION unsent");
	}

	private static Throwable call(HttpExchangeAdapter adapter, String url) {
		Chat chat = HttpServiceProxyFactory.builderFor(adapter)
			.embeddedValueResolver((path) -> url + "/chat")
			.build()
			.createClient(Chat.class);
		return catchThrowable(() -> chat.chat("hello"));
	}

	interface Chat {

		@PostExchange("${url}")
		@Nullable List<String> chat(@RequestBody String text);

	}

}
