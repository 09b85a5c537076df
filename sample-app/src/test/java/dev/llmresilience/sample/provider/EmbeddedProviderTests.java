package dev.llmresilience.sample.provider;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link EmbeddedProvider} over HTTP.
 */
class EmbeddedProviderTests {

	// So slow that no token comes back while a test runs.
	private final EmbeddedProvider provider = EmbeddedProvider.start(new Limits(0.1, 3));

	private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	@AfterEach
	void stop() {
		this.provider.close();
	}

	@Test
	void anthropic_answers_with_usage_request_id_and_the_state_of_the_limit() {
		HttpResponse<String> response = ask("anthropic");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.body()).contains("\"type\":\"message\"", "You said: hello", "\"output_tokens\":");
		assertThat(header(response, "request-id")).startsWith("req_");
		assertThat(header(response, "anthropic-ratelimit-requests-limit")).isEqualTo("3");
		assertThat(header(response, "anthropic-ratelimit-requests-remaining")).isEqualTo("2");
		assertThat(header(response, "anthropic-ratelimit-requests-reset")).endsWith("Z");
	}

	@Test
	void openai_answers_with_usage_request_id_and_the_state_of_the_limit() {
		HttpResponse<String> response = ask("openai");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.body()).contains("\"object\":\"chat.completion\"", "You said: hello", "\"total_tokens\":");
		assertThat(header(response, "x-request-id")).startsWith("req_");
		assertThat(header(response, "x-ratelimit-limit-requests")).isEqualTo("3");
		assertThat(header(response, "x-ratelimit-remaining-requests")).isEqualTo("2");
		assertThat(header(response, "x-ratelimit-reset-requests")).isEqualTo("10s");
	}

	@ParameterizedTest
	@ValueSource(strings = { "anthropic", "openai" })
	void an_empty_bucket_rejects_and_says_when_the_next_token_comes(String name) {
		for (int i = 0; i < 3; i++) {
			assertThat(ask(name).statusCode()).isEqualTo(200);
		}
		HttpResponse<String> response = ask(name);
		assertThat(response.statusCode()).isEqualTo(429);
		assertThat(header(response, "retry-after")).isEqualTo("10");
		Counts counts = this.provider.account(name).counts();
		assertThat(counts.arrived()).isEqualTo(4);
		assertThat(counts.answered()).isEqualTo(3);
		assertThat(counts.rejected()).isOne();
	}

	@ParameterizedTest
	@CsvSource({ "anthropic, rate limit of 10 tokens per minute", "openai, 'Limit 10, Used 6, Requested 6.'" })
	void a_request_whose_tokens_are_not_there_is_rejected(String name, String message) {
		assertThat(EmbeddedProvider.tokens("hello")).isEqualTo(6);
		this.provider.account(name).limits(new Limits(0.1, 3, 0, 10));
		assertThat(ask(name).statusCode()).isEqualTo(200);
		HttpResponse<String> response = ask(name);
		assertThat(response.statusCode()).isEqualTo(429);
		assertThat(response.body()).contains(message);
		assertThat(header(response, "retry-after")).isEqualTo("12");
		assertThat(response.headers().map().keySet()).anyMatch((header) -> header.contains("tokens"));
	}

	@Test
	void a_request_of_more_tokens_than_there_ever_are_carries_no_retry_after() {
		this.provider.account("openai").limits(new Limits(0.1, 3, 0, 5));
		HttpResponse<String> response = ask("openai");
		assertThat(response.statusCode()).isEqualTo(429);
		assertThat(response.body()).contains("Request too large");
		assertThat(response.headers().firstValue("retry-after")).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "anthropic", "openai" })
	void the_headers_of_the_limits_can_be_switched_off(String name) {
		this.provider.account(name).limits(new Limits(0.1, 1, 0, 600));
		this.provider.account(name).headers(false);
		assertThat(ask(name).headers().map().keySet()).noneMatch((header) -> header.contains("ratelimit"));
		HttpResponse<String> rejected = ask(name);
		assertThat(rejected.headers().map().keySet()).noneMatch((header) -> header.contains("ratelimit"));
		assertThat(header(rejected, "retry-after")).isEqualTo("10");
		this.provider.account(name).headers(true);
		assertThat(ask(name).headers().map().keySet()).filteredOn((header) -> header.contains("ratelimit")).hasSize(6);
	}

	@Test
	void the_accounts_do_not_share_their_tokens() {
		for (int i = 0; i < 4; i++) {
			ask("anthropic");
		}
		assertThat(ask("openai").statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@CsvSource({ "anthropic, rate-limited, 429, rate_limit_error", "anthropic, overloaded, 529, overloaded_error",
			"anthropic, server-error, 500, api_error", "anthropic, spend-cap, 429, enforced_spend_limit_reached",
			"openai, rate-limited, 429, rate_limit_exceeded", "openai, overloaded, 503, server_is_overloaded",
			"openai, server-error, 500, server_error", "openai, spend-cap, 429, credit_balance_exhausted" })
	void a_fault_answers_as_the_real_provider_does(String name, String fault, int status, String marker) {
		this.provider.account(name).fault(Fault.of(FaultKind.of(fault)));
		HttpResponse<String> response = ask(name);
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(response.body()).contains(marker);
	}

	@Test
	void only_a_rate_limit_that_passes_carries_retry_after_unless_the_fault_says_so() {
		assertThat(askWith(Fault.of(FaultKind.RATE_LIMITED)).headers().firstValue("retry-after")).hasValue("1");
		assertThat(askWith(Fault.of(FaultKind.SPEND_CAP)).headers().firstValue("retry-after")).isEmpty();
		assertThat(askWith(Fault.of(FaultKind.OVERLOADED)).headers().firstValue("retry-after")).isEmpty();
		assertThat(askWith(Fault.of(FaultKind.OVERLOADED).retryAfter(7)).headers().firstValue("retry-after"))
			.hasValue("7");
	}

	@Test
	void failures_carry_the_state_of_the_limit_and_take_no_token() {
		HttpResponse<String> response = askWith(Fault.of(FaultKind.SERVER_ERROR));
		assertThat(header(response, "anthropic-ratelimit-requests-remaining")).isEqualTo("3");
	}

	@Test
	void any_error_status_can_be_asked_for() {
		HttpResponse<String> response = askWith(Fault.ofStatus(409));
		assertThat(response.statusCode()).isEqualTo(409);
		assertThat(response.body()).contains("conflict_error");
	}

	@Test
	void a_malformed_body_is_a_200_that_breaks_off() {
		HttpResponse<String> response = askWith(Fault.of(FaultKind.MALFORMED));
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.body()).startsWith("{\"id\"").doesNotEndWith("}");
	}

	@Test
	void a_reset_closes_the_connection_without_an_answer() {
		this.provider.account("anthropic").fault(Fault.of(FaultKind.RESET));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> ask("anthropic"))
			.withCauseInstanceOf(IOException.class);
		assertThat(this.provider.account("anthropic").counts().arrived()).isOne();
	}

	@Test
	void a_request_that_hangs_is_let_go_when_the_fault_changes() {
		Account account = this.provider.account("anthropic");
		account.fault(Fault.of(FaultKind.HANG));
		CompletableFuture<HttpResponse<String>> hanging = send("anthropic", body("a-model", false));
		while (account.counts().arrived() == 0) {
			Thread.onSpinWait();
		}
		assertThat(hanging).isNotDone();
		account.fault(Fault.NONE);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(hanging::join);
		assertThat(ask("anthropic").statusCode()).isEqualTo(200);
	}

	@Test
	void streams_are_server_sent_events() {
		HttpResponse<String> response = send("anthropic", body("a-model", true)).join();
		assertThat(header(response, "content-type")).startsWith("text/event-stream");
		assertThat(response.body()).startsWith("event: message_start\ndata: {").endsWith("\n\n");
		assertThat(send("openai", body("a-model", true)).join().body()).endsWith("data: [DONE]\n\n");
	}

	@Test
	void a_request_that_no_provider_would_take_is_a_400_that_says_why() {
		HttpResponse<String> response = send("anthropic", "{\"model\":\"a-model\"}").join();
		assertThat(response.statusCode()).isEqualTo(400);
		assertThat(response.body()).contains("invalid_request_error", "messages: at least one message is required");
		assertThat(send("openai", "{").join().statusCode()).isEqualTo(400);
	}

	@Test
	void warm_ups_wait_for_each_other_and_are_neither_counted_nor_metered() {
		Account account = this.provider.account("openai");
		account.gatherWarmUps(50);
		List<CompletableFuture<HttpResponse<String>>> warmUps = IntStream.range(0, 49)
			.mapToObj((i) -> send("openai", body("warm-up", false)))
			.toList();
		assertThat(warmUps).noneMatch(CompletableFuture::isDone);
		assertThat(send("openai", body("warm-up", false)).join().statusCode()).isEqualTo(200);
		assertThat(warmUps).allMatch((warmUp) -> warmUp.join().statusCode() == 200);
		assertThat(account.counts().arrived()).isZero();
		assertThat(account.untilFull()).isZero();
	}

	@Test
	void three_hundred_requests_are_answered_side_by_side() {
		this.provider.account("anthropic").limits(new Limits(1, 300, 0, null));
		List<CompletableFuture<HttpResponse<String>>> answers = IntStream.range(0, 300)
			.mapToObj((i) -> send("anthropic", body("a-model", false)))
			.toList();
		assertThat(answers).allMatch((answer) -> answer.join().statusCode() == 200);
		assertThat(this.provider.account("anthropic").counts().answered()).isEqualTo(300);
	}

	@Test
	void an_unknown_account_is_refused_with_the_known_ones() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.provider.account("mistral"))
			.withMessage("provider must be one of anthropic, openai, but was mistral");
	}

	private HttpResponse<String> askWith(Fault fault) {
		this.provider.account("anthropic").fault(fault);
		return ask("anthropic");
	}

	private HttpResponse<String> ask(String name) {
		return send(name, body("a-model", false)).join();
	}

	private CompletableFuture<HttpResponse<String>> send(String name, String body) {
		HttpRequest request = HttpRequest
			.newBuilder(this.provider.url().resolve(this.provider.account(name).dialect().path()))
			.POST(BodyPublishers.ofString(body))
			.build();
		return this.client.sendAsync(request, BodyHandlers.ofString());
	}

	private static String body(String model, boolean stream) {
		return "{\"model\":\"%s\",\"max_tokens\":9,\"stream\":%s,\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}"
			.formatted(model, stream);
	}

	private static String header(HttpResponse<?> response, String name) {
		return response.headers().firstValue(name).orElse("");
	}

}
