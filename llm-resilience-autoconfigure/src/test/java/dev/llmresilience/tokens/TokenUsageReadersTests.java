package dev.llmresilience.tokens;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import com.anthropic.models.messages.Message;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.embeddings.CreateEmbeddingResponse;
import com.openai.models.responses.Response;
import dev.langchain4j.data.message.AiMessage;
import dev.llmresilience.TokenUsage;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.metadata.Usage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.ai.embedding.EmbeddingResponseMetadata;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link TokenUsageReaders} and those of the client libraries.
 */
@ExtendWith(OutputCaptureExtension.class)
class TokenUsageReadersTests {

	private static final TokenUsageReaders READERS = new TokenUsageReaders(List.of());

	@ParameterizedTest(name = "{0} -> {1} ({2})")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					{"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}                | 11 in, 7 out | an answer
					{"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18,"prompt_tokens_details":{"cached_tokens":8}}} | 11 in, 7 out | cached input counts
					{"usage":{"prompt_tokens":11,"total_tokens":11}}                                      | 11 in, 0 out | no output
					{"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}                  | 0 in, 0 out  | it says zero
					{"usage":{"prompt_tokens":-1,"completion_tokens":7,"total_tokens":6}}                 | 0 in, 7 out  | a number that is none
					{"usage":{"prompt_tokens":"many","completion_tokens":7}}                              | 0 in, 7 out  | a text in place of a number
					{"usage":{}}                                                                          | nothing      | an empty object
					{"usage":null}                                                                        | nothing      | without usage
					{"usage":17}                                                                          | nothing      | no object
					{"choices":[]}                                                                        | nothing      | without usage
					""")
	void readsCompletionsOfOpenAisSdk(String json, String expected, String source) throws Exception {
		assertThat(read(openAi(json, ChatCompletion.class))).as(source).isEqualTo(expected);
	}

	@ParameterizedTest(name = "{0} -> {1}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					{"usage":{"input_tokens":11,"output_tokens":7,"total_tokens":18,"input_tokens_details":{"cached_tokens":8}}} | 11 in, 7 out
					{"usage":null}                                                                                               | nothing
					{"id":"x","status":"queued"}                                                                                 | nothing
					""")
	void readsResponsesOfOpenAisSdk(String json, String expected) throws Exception {
		assertThat(read(openAi(json, Response.class))).isEqualTo(expected);
	}

	@Test
	void readsEmbeddingsOfOpenAisSdk() throws Exception {
		assertThat(
				read(openAi("{\"usage\":{\"prompt_tokens\":11,\"total_tokens\":11}}", CreateEmbeddingResponse.class)))
			.isEqualTo("11 in, 0 out");
		assertThat(read(openAi("{\"data\":[]}", CreateEmbeddingResponse.class))).isEqualTo("nothing");
	}

	@ParameterizedTest(name = "{0} -> {1} ({2})")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					{"usage":{"input_tokens":11,"output_tokens":7}}                                                       | 11 in, 7 out   | an answer
					{"usage":{"input_tokens":11,"output_tokens":7,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000}} | 111 in, 7 out | written counts, read does not
					{"usage":{"input_tokens":11,"output_tokens":7,"cache_creation_input_tokens":null,"cache_read_input_tokens":null}} | 11 in, 7 out | no cache
					{"usage":{"cache_creation_input_tokens":100,"output_tokens":7}}                                       | 100 in, 7 out  | all of it written
					{"usage":{"output_tokens":7}}                                                                         | 0 in, 7 out    | output only
					{"usage":{}}                                                                                          | nothing        | an empty object
					{"content":[]}                                                                                        | nothing        | without usage
					""")
	void readsMessagesOfAnthropicsSdk(String json, String expected, String source) throws Exception {
		Message message = com.anthropic.core.ObjectMappers.jsonMapper().readValue(json, Message.class);
		assertThat(read(message)).as(source).isEqualTo(expected);
	}

	@Test
	void readsTheChatResponsesOfSpringAi() {
		assertThat(read(springAi(new DefaultUsage(11, 7)))).isEqualTo("11 in, 7 out");
		assertThat(read(springAi(new DefaultUsage(11, 7, 18, null, 8L, null)))).as("as the module of OpenAI tells it")
			.isEqualTo("11 in, 7 out");
		assertThat(read(springAi(new DefaultUsage(11, 7, 18, null, 1000L, 100L))))
			.as("as the module of Anthropic tells it")
			.isEqualTo("111 in, 7 out");
		assertThat(read(springAi(new DefaultUsage(0, 0)))).as("all zeros").isEqualTo("nothing");
		assertThat(read(new ChatResponse(List.of()))).as("an empty usage").isEqualTo("nothing");
	}

	@Test
	void readsTheEmbeddingResponsesOfSpringAi() {
		assertThat(read(new EmbeddingResponse(List.of(),
				new EmbeddingResponseMetadata("model", new DefaultUsage(11, 0), Map.of()))))
			.isEqualTo("11 in, 0 out");
		assertThat(read(new EmbeddingResponse(List.of()))).isEqualTo("nothing");
	}

	@Test
	void readsTheChatResponsesOfLangChain4j() {
		assertThat(read(langChain4j(new dev.langchain4j.model.output.TokenUsage(11, 7)))).isEqualTo("11 in, 7 out");
		assertThat(read(langChain4j(new dev.langchain4j.model.output.TokenUsage(11, null)))).isEqualTo("11 in, 0 out");
		assertThat(read(langChain4j(new dev.langchain4j.model.output.TokenUsage(null, null)))).isEqualTo("nothing");
		assertThat(read(langChain4j(new dev.langchain4j.model.output.TokenUsage()))).as("all zeros")
			.isEqualTo("nothing");
		assertThat(read(langChain4j(null))).isEqualTo("nothing");
	}

	@Test
	void readsTheOtherResponsesOfLangChain4j() {
		assertThat(
				read(dev.langchain4j.model.output.Response.from("x", new dev.langchain4j.model.output.TokenUsage(11))))
			.isEqualTo("11 in, 0 out");
		assertThat(
				read(dev.langchain4j.model.output.Response.from("x", new dev.langchain4j.model.output.TokenUsage(0))))
			.isEqualTo("nothing");
		assertThat(read(dev.langchain4j.model.output.Response.from("x"))).isEqualTo("nothing");
	}

	@Test
	void otherResultsSayNothing() {
		for (Object result : List.of("{\"usage\":{\"prompt_tokens\":11}}", 42, List.of(), Map.of("usage", 11))) {
			assertThat(read(result)).isEqualTo("nothing");
		}
	}

	@Test
	void othersAreAskedFirst() {
		TokenUsageReaders readers = new TokenUsageReaders(
				List.of((result) -> null, (result) -> new TokenUsage(1, 2), (result) -> new TokenUsage(3, 4)));
		assertThat(readers.read(springAi(new DefaultUsage(11, 7)))).isEqualTo(new TokenUsage(1, 2));
	}

	@Test
	void oneOfTheOthersThatThrowsIsPassedOver(CapturedOutput output) {
		TokenUsageReaders readers = new TokenUsageReaders(List.of((result) -> {
			throw new IllegalStateException("secret");
		}, (result) -> {
			throw new NoSuchMethodError("secret");
		}, (result) -> new TokenUsage(1, 2)));
		assertThat(readers.read("x")).isEqualTo(new TokenUsage(1, 2));
		assertThat(output).contains("which must not throw but threw java.lang.IllegalStateException")
			.contains("which must not throw but threw java.lang.NoSuchMethodError")
			.doesNotContain("secret");
	}

	@Test
	void worksWithoutAnyClientLibrary() throws Exception {
		URL[] urls = Stream.of(TokenUsageReaders.class, ClassUtils.class, LogFactory.class, Nullable.class)
			.map((type) -> type.getProtectionDomain().getCodeSource().getLocation())
			.toArray(URL[]::new);
		try (URLClassLoader bare = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
			Class<?> type = bare.loadClass(TokenUsageReaders.class.getName());
			Object readers = type.getConstructor(List.class).newInstance(List.of());
			assertThat(type.getMethod("read", Object.class).invoke(readers, "x")).isNull();
		}
	}

	private static String read(Object result) {
		TokenUsage usage = READERS.read(result);
		return (usage != null) ? usage.input() + " in, " + usage.output() + " out" : "nothing";
	}

	private static <T> T openAi(String json, Class<T> type) throws Exception {
		return com.openai.core.ObjectMappers.jsonMapper().readValue(json, type);
	}

	private static ChatResponse springAi(Usage usage) {
		return new ChatResponse(List.of(), ChatResponseMetadata.builder().usage(usage).build());
	}

	private static dev.langchain4j.model.chat.response.ChatResponse langChain4j(
			dev.langchain4j.model.output.@Nullable TokenUsage usage) {
		return dev.langchain4j.model.chat.response.ChatResponse.builder()
			.aiMessage(AiMessage.from("hello"))
			.tokenUsage(usage)
			.build();
	}

}
