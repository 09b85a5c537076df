package dev.llmresilience.tools;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.List;

import dev.llmresilience.LlmCall;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.model.tool.ToolExecutionResult;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.metadata.ToolMetadata;
import org.springframework.ai.tool.method.MethodToolCallback;
import org.springframework.util.ReflectionUtils;

/**
 * Tools of Spring AI (2.0). The {@link ToolCallingManager} bean marks a
 * {@linkplain LlmCall#sideEffect() side effect} by itself before it runs a tool, and so
 * does each {@code ChatClient} that uses it; others get it from
 * {@link #markingSideEffects}. Thread-safe.
 */
public final class SpringAiTools {

	/** Nothing else knows the method of a tool; without it no tool only reads. */
	private static final @Nullable Field TOOL_METHOD = toolMethod();

	private SpringAiTools() {
	}

	/**
	 * Lets a manager mark the protected call of its thread before it runs a tool that is
	 * not read-only.
	 * @param manager what runs tools
	 * @return a manager that does the same and marks
	 */
	public static ToolCallingManager markingSideEffects(ToolCallingManager manager) {
		return (manager instanceof MarkingManager) ? manager : new MarkingManager(manager);
	}

	/**
	 * Declares that a tool only reads, where its method cannot be annotated: a function,
	 * or a tool of an MCP server.
	 * @param tool the tool
	 * @return the same tool, declared read-only
	 */
	public static ToolCallback readOnly(ToolCallback tool) {
		return new ReadOnlyCallback(tool);
	}

	private static boolean mayDoHarm(Prompt prompt, ChatResponse response) {
		List<ToolCallback> tools = (prompt.getOptions() instanceof ToolCallingChatOptions options)
				? options.getToolCallbacks() : null;
		return response.getResults()
			.stream()
			.flatMap((generation) -> generation.getOutput().getToolCalls().stream())
			.anyMatch((call) -> tools == null || !isReadOnly(call, tools));
	}

	private static boolean isReadOnly(ToolCall call, List<ToolCallback> tools) {
		return tools.stream()
			.filter((tool) -> tool.getToolDefinition().name().equals(call.name()))
			.findFirst()
			.filter(SpringAiTools::isReadOnly)
			.isPresent();
	}

	private static boolean isReadOnly(ToolCallback tool) {
		return tool instanceof ReadOnlyCallback || (tool instanceof MethodToolCallback && TOOL_METHOD != null
				&& ReflectionUtils.getField(TOOL_METHOD, tool) instanceof Method method
				&& ToolMethods.isReadOnly(method));
	}

	private static @Nullable Field toolMethod() {
		try {
			Field field = ReflectionUtils.findField(MethodToolCallback.class, "toolMethod", Method.class);
			if (field != null) {
				field.setAccessible(true);
			}
			return field;
		}
		catch (RuntimeException ex) {
			return null;
		}
	}

	private record MarkingManager(ToolCallingManager manager) implements ToolCallingManager {

		@Override
		public List<ToolDefinition> resolveToolDefinitions(ToolCallingChatOptions options) {
			return this.manager.resolveToolDefinitions(options);
		}

		@Override
		public ToolExecutionResult executeToolCalls(Prompt prompt, ChatResponse response) {
			LlmCall call = LlmCall.current();
			if (call != null && mayDoHarm(prompt, response)) {
				call.sideEffect();
			}
			return this.manager.executeToolCalls(prompt, response);
		}

	}

	private record ReadOnlyCallback(ToolCallback tool) implements ToolCallback {

		@Override
		public ToolDefinition getToolDefinition() {
			return this.tool.getToolDefinition();
		}

		@Override
		public ToolMetadata getToolMetadata() {
			return this.tool.getToolMetadata();
		}

		@Override
		public String call(String input) {
			return this.tool.call(input);
		}

		@Override
		public String call(String input, @Nullable ToolContext context) {
			return this.tool.call(input, context);
		}

	}

}
