package dev.llmresilience.failure;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import com.anthropic.models.messages.Message;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.responses.Response;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.model.output.FinishReason;
import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.LlmResultException;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ResultClassifiers} and those of the client libraries.
 */
class ResultClassifiersTests {

	private static final FailureContext CONTEXT = new FailureContext(ProviderType.GENERIC, Failures.NOW, false);

	private static final ResultClassifiers CLASSIFIERS = new ResultClassifiers(List.of());

	/** Cases C68 (an empty answer is an answer), C69 and C70. */
	@ParameterizedTest(name = "{0} -> {1} ({2})")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					{"error":{"message":"Upstream error from Nvidia: ResourceExhausted","code":502}}           | TIMEOUT      | azrtydxb/Fastllm-proxy#28
					{"error":{"code":429,"message":"no","metadata":{"error_type":"rate_limit_exceeded"}}}      | RATE_LIMITED | OpenRouter
					{"error":{"code":"insufficient_quota","message":"no"}}                                     | QUOTA_EXHAUSTED latches ACCOUNT | whatever the status
					{"error":{"message":"Please try again in 7s","code":"rate_limit_exceeded"},"choices":[]}   | RATE_LIMITED after 7s | with its wait
					{"error":"it broke"}                                                                       | SERVER_ERROR | a bare sentence
					{"id":null,"choices":null}                                                                 | SERVER_ERROR | decolua/9router#2727
					{}                                                                                         | SERVER_ERROR | nothing at all
					{"id":"x","choices":[{"index":0,"finish_reason":"error","message":{"role":"assistant","content":"Hal"}}]} | SERVER_ERROR | OpenRouter, in the choice
					{"id":"x","choices":[{"index":0,"error":{"code":503,"message":"no"},"message":{"role":"assistant","content":""}}]} | OVERLOADED | OpenRouter, in the choice
					{"id":"x","choices":[{"index":0,"finish_reason":"insufficient_system_resource","message":{"role":"assistant","content":""}}]} | OVERLOADED | DeepSeek
					{"id":"x","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hello"}}]} | none | an answer
					{"id":"x","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":""}}]} | none | BerriAI/litellm#32475
					{"id":"x","choices":[{"index":0,"finish_reason":"content_filter","message":{"role":"assistant","content":null}}]} | none | a filter is an answer
					{"id":"x","choices":[{"index":0,"finish_reason":"length","message":{"role":"assistant","content":"h"}}]} | none | so is the length
					{"id":"x","choices":[]}                                                                    | none         | no choice is not no choices
					{"error":null,"id":"x","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hello"}}]} | none | an error that is none
					""")
	void judgesCompletionsOfOpenAisSdk(String json, String expected, String source) throws Exception {
		assertThat(judge(openAi(json, ChatCompletion.class))).as(source).isEqualTo(expected);
	}

	@ParameterizedTest(name = "{0} -> {1}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					{"id":"x","status":"failed","error":{"code":"server_error","message":"no"}}         | SERVER_ERROR
					{"id":"x","status":"failed","error":{"code":"rate_limit_exceeded","message":"no"}}  | RATE_LIMITED
					{"id":"x","status":"failed","error":{"code":"insufficient_quota","message":"no"}}   | QUOTA_EXHAUSTED latches ACCOUNT
					{"id":"x","status":"completed","error":null,"output":[]}                            | none
					{"id":"x","status":"incomplete","output":[]}                                        | none
					""")
	void judgesResponsesOfOpenAisSdk(String json, String expected) throws Exception {
		assertThat(judge(openAi(json, Response.class))).isEqualTo(expected);
	}

	@ParameterizedTest(name = "{0} -> {1} ({2})")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_x"}  | OVERLOADED      | huggingface/tau#556
					{"type":"error","error":{"type":"rate_limit_error","message":"no","details":{"error_code":"enforced_spend_limit_reached"}}} | QUOTA_EXHAUSTED latches ACCOUNT | whatever the status
					{"type":"error","error":{"type":"invalid_request_error","message":"no"}}                          | INVALID_REQUEST | huggingface/tau#556
					{}                                                                                                | SERVER_ERROR    | nothing at all
					{"id":"x","type":"message","role":"assistant","content":[],"stop_reason":"end_turn"}              | none            | BerriAI/litellm#32475
					{"id":"x","type":"message","role":"assistant","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn"} | none | an answer
					{"id":"x","type":"message","role":"assistant","content":[],"stop_reason":"refusal"}               | none            | a refusal is an answer
					{"id":"x","type":"message","role":"assistant","content":[{"type":"text","text":"h"}],"stop_reason":null} | none     | an answer without a reason
					""")
	void judgesMessagesOfAnthropicsSdk(String json, String expected, String source) throws Exception {
		Message message = com.anthropic.core.ObjectMappers.jsonMapper().readValue(json, Message.class);
		assertThat(judge(message)).as(source).isEqualTo(expected);
	}

	@Test
	void judgesTheResponsesOfSpringAi() {
		assertThat(judge(springAi("stop", "hello"))).isEqualTo("none");
		assertThat(judge(springAi("end_turn", ""))).isEqualTo("none");
		assertThat(judge(springAi("CONTENT_FILTER", ""))).isEqualTo("none");
		assertThat(judge(springAi(null, ""))).isEqualTo("none");
		assertThat(judge(springAi("ERROR", "Hal"))).isEqualTo("SERVER_ERROR");
		assertThat(judge(springAi("insufficient_system_resource", "Hal"))).isEqualTo("OVERLOADED");
		assertThat(judge(new ChatResponse(List.of()))).as("an answer without choices").isEqualTo("SERVER_ERROR");
	}

	@Test
	void chunksWithoutGenerationsAreNoFailures() {
		ChatResponseMetadata usage = ChatResponseMetadata.builder().usage(new DefaultUsage(3, 5)).build();
		assertThat(judge(new ChatResponse(List.of(), usage))).as("a stream's usage").isEqualTo("none");
		ChatResponseMetadata filter = ChatResponseMetadata.builder().keyValue("created", 0).build();
		assertThat(judge(new ChatResponse(List.of(), filter))).as("a filter's verdict").isEqualTo("none");
	}

	@Test
	void anErrorInSpringAisMetadataIsJudgedByItsCode() {
		ChatResponseMetadata metadata = ChatResponseMetadata.builder()
			.keyValue("error", Map.of("code", 429, "message", "Please retry in 5s"))
			.build();
		assertThat(judge(new ChatResponse(List.of(), metadata))).isEqualTo("RATE_LIMITED after 5s");
		Generation generation = new Generation(new AssistantMessage(""),
				ChatGenerationMetadata.builder().metadata("error", Map.of("code", "server_error")).build());
		assertThat(judge(new ChatResponse(List.of(generation)))).isEqualTo("SERVER_ERROR");
	}

	@Test
	void judgesTheResponsesOfLangChain4j() {
		assertThat(judge(langChain4j(AiMessage.from("hello"), FinishReason.STOP))).isEqualTo("none");
		assertThat(judge(langChain4j(AiMessage.from("hello"), null))).isEqualTo("none");
		assertThat(judge(langChain4j(AiMessage.from(""), FinishReason.STOP))).isEqualTo("none");
		assertThat(judge(langChain4j(AiMessage.from(""), FinishReason.OTHER))).isEqualTo("none");
		assertThat(judge(langChain4j(AiMessage.from(""), FinishReason.CONTENT_FILTER))).isEqualTo("none");
		assertThat(judge(langChain4j(AiMessage.from(ToolExecutionRequest.builder().name("x").build()), null)))
			.isEqualTo("none");
		assertThat(judge(langChain4j(AiMessage.from(""), null))).as("neither content nor reason")
			.isEqualTo("SERVER_ERROR retries<=1");
		assertThat(judge(langChain4j(
				AiMessage.builder().text("x").attributes(Map.of("error", Map.of("code", 503))).build(), null)))
			.isEqualTo("OVERLOADED");
	}

	@Test
	void otherResultsAreNoFailures() {
		for (Object result : List.of("{\"error\":{\"code\":429}}", 42, List.of(), Map.of("error", "mine"))) {
			assertThat(judge(result)).isEqualTo("none");
		}
	}

	@Test
	void othersAreAskedFirst() {
		ResultClassifiers classifiers = new ResultClassifiers(
				List.of((result, context) -> null, (result, context) -> LlmFailure.of(FailureKind.CONFLICT),
						(result, context) -> LlmFailure.of(FailureKind.TIMEOUT)));
		assertThat(classifiers.classify("x", CONTEXT)).isEqualTo(LlmFailure.of(FailureKind.CONFLICT));
	}

	@Test
	void oneOfTheOthersThatThrowsWhenAskedWhatItKnowsIsPassedOver() {
		ResultClassifiers classifiers = new ResultClassifiers(List.<ResultClassifier>of(new ResultClassifier() {
			@Override
			public boolean knows(Object result) {
				throw new IllegalStateException("secret");
			}

			@Override
			public @Nullable LlmFailure classify(Object result, FailureContext context) {
				return null;
			}
		}, (result, context) -> LlmFailure.of(FailureKind.TIMEOUT)));
		assertThat(classifiers.knows("x")).isTrue();
		assertThat(classifiers.classify("x", CONTEXT)).isEqualTo(LlmFailure.of(FailureKind.TIMEOUT));
	}

	@Test
	void oneOfTheOthersThatThrowsIsPassedOver() {
		ResultClassifiers classifiers = new ResultClassifiers(List.of((result, context) -> {
			throw new IllegalStateException("secret");
		}, (result, context) -> LlmFailure.of(FailureKind.TIMEOUT)));
		assertThat(classifiers.classify("x", CONTEXT)).isEqualTo(LlmFailure.of(FailureKind.TIMEOUT));
	}

	@Test
	void worksWithoutAnyClientLibrary() throws Exception {
		URL[] urls = Stream.of(ResultClassifiers.class, ClassUtils.class, LogFactory.class, Nullable.class)
			.map((type) -> type.getProtectionDomain().getCodeSource().getLocation())
			.toArray(URL[]::new);
		try (URLClassLoader bare = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
			Class<?> type = bare.loadClass(ResultClassifiers.class.getName());
			Object classifiers = type.getConstructor(List.class).newInstance(List.of());
			Object failure = type.getMethod("classify", Object.class, bare.loadClass(FailureContext.class.getName()))
				.invoke(classifiers, "x", null);
			assertThat(failure).isNull();
		}
	}

	@Test
	void theExceptionCarriesTheFailureAndNoText() throws Exception {
		LlmFailure failure = Objects.requireNonNull(CLASSIFIERS
			.classify(openAi("{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"secret prompt\"}}",
					ChatCompletion.class), CONTEXT));
		LlmResultException thrown = new LlmResultException(failure);
		assertThat(thrown.failure()).isSameAs(failure);
		assertThat(thrown).hasMessageContaining("RATE_LIMITED")
			.hasMessageContaining("rate_limit_exceeded")
			.hasMessageNotContaining("secret");
	}

	private static String judge(Object result) {
		LlmFailure failure = CLASSIFIERS.classify(result, CONTEXT);
		return (failure != null) ? Failures.describe(failure) : "none";
	}

	private static <T> T openAi(String json, Class<T> type) throws Exception {
		return com.openai.core.ObjectMappers.jsonMapper().readValue(json, type);
	}

	private static ChatResponse springAi(@Nullable String finishReason, String text) {
		return new ChatResponse(List.of(new Generation(new AssistantMessage(text),
				ChatGenerationMetadata.builder().finishReason(finishReason).build())));
	}

	private static dev.langchain4j.model.chat.response.ChatResponse langChain4j(AiMessage message,
			@Nullable FinishReason reason) {
		return dev.langchain4j.model.chat.response.ChatResponse.builder()
			.aiMessage(message)
			.finishReason(reason)
			.build();
	}

}
