package dev.llmresilience.tools;

import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

import dev.llmresilience.LlmRetry;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.autoconfigure.ToolsAutoConfiguration;
import dev.llmresilience.test.ScriptedProvider;
import dev.llmresilience.test.ScriptedProvider.Answer;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * A model that asks for tools, is then overloaded, and recovers.
 */
final class ToolScript {

	private static final String MESSAGE = """
			{"id":"x","object":"chat.completion","created":1,"model":"x","choices":[{"index":0,"finish_reason":"%s",
			"logprobs":null,"message":{"role":"assistant","content":%s,"refusal":null%s}}]}""";

	private static final Answer OVERLOADED = ScriptedProvider.answer(529,
			"{\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}");

	private static final Answer DONE = ScriptedProvider.answer(200, MESSAGE.formatted("stop", "\"done\"", ""));

	private ToolScript() {
	}

	/**
	 * Asks for tools, answers 529 to their results, and does both better when it is asked
	 * anew.
	 */
	static ScriptedProvider overloadedAfter(String... tools) {
		Answer asking = ask(tools);
		return ScriptedProvider.answering(asking, OVERLOADED, asking, DONE);
	}

	/** Is overloaded before it asks for anything. */
	static ScriptedProvider overloadedBefore(String... tools) {
		return ScriptedProvider.answering(OVERLOADED, ask(tools), DONE);
	}

	private static Answer ask(String... tools) {
		String calls = Arrays.stream(tools)
			.map((tool) -> """
					{"id":"call_%s","type":"function","function":{"name":"%s","arguments":"{}"}}""".formatted(tool,
					tool))
			.collect(Collectors.joining(",", ",\"tool_calls\":[", "]"));
		return ScriptedProvider.answer(200, MESSAGE.formatted("tool_calls", "null", calls));
	}

	/** An application whose retries do not wait. */
	static ApplicationContextRunner application() {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class,
					ToolsAutoConfiguration.class))
			.withPropertyValues("llm.resilience.providers.default.retry.base-delay=1ms",
					"llm.resilience.providers.default.retry.rate-limit-base-delay=1ms",
					"llm.resilience.providers.default.retry.retry-after-spread=0s")
			.withBean(Assistant.class);
	}

	static class Assistant {

		@LlmRetry
		String ask(Callable<String> model) throws Exception {
			return model.call();
		}

	}

}
