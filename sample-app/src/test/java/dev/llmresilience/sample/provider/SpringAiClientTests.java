package dev.llmresilience.sample.provider;

import java.time.Duration;
import java.util.stream.Stream;

import com.anthropic.errors.AnthropicInvalidDataException;
import com.anthropic.errors.AnthropicIoException;
import com.anthropic.errors.AnthropicServiceException;
import com.openai.errors.OpenAIInvalidDataException;
import com.openai.errors.OpenAIIoException;
import com.openai.errors.OpenAIServiceException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that the vendors' own SDKs take {@link EmbeddedProvider} for the real thing.
 */
@SpringBootTest(properties = { "spring.ai.anthropic.api-key=embedded", "spring.ai.openai.api-key=embedded",
		"spring.ai.anthropic.timeout=2s" })
class SpringAiClientTests {

	@Autowired
	private AnthropicChatModel anthropic;

	@Autowired
	private OpenAiChatModel openai;

	@Autowired
	private EmbeddedProvider provider;

	@BeforeEach
	@AfterEach
	void reset() {
		this.provider.accounts().values().forEach((account) -> {
			account.limits(new Limits(10, 20));
			account.fault(Fault.NONE);
			account.resetCounts();
		});
	}

	@ParameterizedTest
	@CsvSource({ "anthropic", "openai" })
	void an_answer_arrives_with_text_and_usage(String name) {
		ChatResponse response = model(name).call(new Prompt("hello"));
		assertThat(response.getResults()).extracting((result) -> result.getOutput().getText())
			.containsExactly("You said: hello");
		assertThat(response.getMetadata().getUsage().getCompletionTokens()).isPositive();
		assertThat(this.provider.account(name).counts().arrived()).isOne();
	}

	@ParameterizedTest
	@CsvSource({ "anthropic", "openai" })
	void a_stream_arrives_in_pieces(String name) {
		Stream<String> pieces = model(name).stream(new UserMessage("hello there")).toStream();
		assertThat(pieces.filter((piece) -> !piece.isEmpty()).toList()).hasSizeGreaterThan(2)
			.satisfies((texts) -> assertThat(String.join("", texts)).isEqualTo("You said: hello there"));
	}

	static Stream<Arguments> whatClientsLikeToRepeat() {
		return Stream.of("anthropic", "openai")
			.flatMap((name) -> Stream
				.of(Fault.of(FaultKind.SERVER_ERROR), Fault.of(FaultKind.RESET), Fault.ofStatus(408),
						Fault.ofStatus(503).retryAfter(0))
				.map((fault) -> Arguments.of(name, fault)));
	}

	@ParameterizedTest
	@MethodSource("whatClientsLikeToRepeat")
	void neither_the_sdks_nor_okhttp_send_a_request_again(String name, Fault fault) {
		// OkHttp repeats after a reset only on a connection that has been used before.
		model(name).call("hello");
		this.provider.account(name).resetCounts();
		this.provider.account(name).fault(fault);
		assertThatException().isThrownBy(() -> model(name).call("hello"));
		assertThat(this.provider.account(name).counts().arrived()).isOne();
	}

	static Stream<Arguments> statuses() {
		return Stream.of(Arguments.of(Fault.of(FaultKind.RATE_LIMITED), 429, 429),
				Arguments.of(Fault.of(FaultKind.OVERLOADED), 529, 503),
				Arguments.of(Fault.of(FaultKind.SERVER_ERROR), 500, 500),
				Arguments.of(Fault.of(FaultKind.SPEND_CAP), 429, 429), Arguments.of(Fault.ofStatus(401), 401, 401),
				Arguments.of(Fault.ofStatus(408), 408, 408), Arguments.of(Fault.ofStatus(409), 409, 409));
	}

	@ParameterizedTest
	@MethodSource("statuses")
	void a_fault_reaches_the_caller_as_the_sdks_exception_with_its_status(Fault fault, int anthropicStatus,
			int openaiStatus) {
		this.provider.accounts().values().forEach((account) -> account.fault(fault));
		assertThatExceptionOfType(AnthropicServiceException.class).isThrownBy(() -> this.anthropic.call("hello"))
			.satisfies((ex) -> assertThat(ex.statusCode()).isEqualTo(anthropicStatus));
		assertThatExceptionOfType(OpenAIServiceException.class).isThrownBy(() -> this.openai.call("hello"))
			.satisfies((ex) -> assertThat(ex.statusCode()).isEqualTo(openaiStatus));
	}

	@Test
	void the_sdks_find_the_codes_of_a_spend_cap() {
		this.provider.accounts().values().forEach((account) -> account.fault(Fault.of(FaultKind.SPEND_CAP)));
		assertThatExceptionOfType(AnthropicServiceException.class).isThrownBy(() -> this.anthropic.call("hello"))
			.satisfies((ex) -> assertThat(ex.body().toString()).contains("enforced_spend_limit_reached"));
		assertThatExceptionOfType(OpenAIServiceException.class).isThrownBy(() -> this.openai.call("hello"))
			.satisfies((ex) -> assertThat(ex.code()).hasValue("credit_balance_exhausted"));
	}

	@Test
	void a_reset_reaches_the_caller_as_an_io_exception() {
		this.provider.accounts().values().forEach((account) -> account.fault(Fault.of(FaultKind.RESET)));
		assertThatExceptionOfType(AnthropicIoException.class).isThrownBy(() -> this.anthropic.call("hello"));
		assertThatExceptionOfType(OpenAIIoException.class).isThrownBy(() -> this.openai.call("hello"));
	}

	@Test
	void a_hang_reaches_the_caller_as_a_timeout() {
		this.provider.accounts().values().forEach((account) -> account.fault(Fault.of(FaultKind.HANG)));
		assertThatExceptionOfType(AnthropicIoException.class).isThrownBy(() -> this.anthropic.call("hello"));
		OpenAiChatOptions impatient = this.openai.getOptions().mutate().timeout(Duration.ofSeconds(2)).build();
		assertThatExceptionOfType(OpenAIIoException.class)
			.isThrownBy(() -> this.openai.call(new Prompt("hello", impatient)));
	}

	@Test
	void a_malformed_body_reaches_the_caller_as_invalid_data() {
		this.provider.accounts().values().forEach((account) -> account.fault(Fault.of(FaultKind.MALFORMED)));
		assertThatExceptionOfType(AnthropicInvalidDataException.class).isThrownBy(() -> this.anthropic.call("hello"));
		assertThatExceptionOfType(OpenAIInvalidDataException.class).isThrownBy(() -> this.openai.call("hello"));
	}

	private ChatModel model(String name) {
		return name.equals("anthropic") ? this.anthropic : this.openai;
	}

}
