package dev.llmresilience.tools;

import java.util.stream.Stream;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.observability.api.event.AiServiceResponseReceivedEvent;
import dev.langchain4j.observability.api.listener.AiServiceResponseReceivedListener;
import dev.langchain4j.service.AiServiceContext;
import dev.langchain4j.service.tool.DefaultToolExecutor;
import dev.langchain4j.spi.services.AiServiceContextFactory;
import dev.llmresilience.LlmCall;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Tools of LangChain4j (1.19). LangChain4j finds this class as a service, so that every
 * {@code AiServices}, a bean or not, marks a {@linkplain LlmCall#sideEffect() side
 * effect} before it runs a tool that is not read-only. It does so on the thread that
 * called it, as soon as the model asks for the tool, so that it does not matter on which
 * thread the tool runs. Thread-safe.
 */
public final class LangChain4jTools implements AiServiceContextFactory {

	private static final Log logger = LogFactory.getLog(LangChain4jTools.class);

	/** What a server of the Model Context Protocol says of a tool that only reads. */
	private static final String READ_ONLY = "readOnlyHint";

	/**
	 * Creates the factory. LangChain4j does so.
	 */
	public LangChain4jTools() {
	}

	@Override
	public AiServiceContext create(Class<?> aiServiceClass) {
		AiServiceContext service = new OpenContext(aiServiceClass);
		try {
			Marking.listenTo(service);
		}
		catch (LinkageError ex) {
			logger.warn("Tools of " + aiServiceClass.getName() + " do not mark side effects, because this version of "
					+ "LangChain4j cannot be hooked into: " + ex.getClass().getName());
		}
		return service;
	}

	/** LangChain4j lets nobody create one without this. */
	private static final class OpenContext extends AiServiceContext {

		OpenContext(Class<?> aiServiceClass) {
			super(aiServiceClass);
		}

	}

	/**
	 * A class of its own, because it names what earlier versions do not have.
	 */
	private static final class Marking implements AiServiceResponseReceivedListener {

		private final AiServiceContext service;

		private Marking(AiServiceContext service) {
			this.service = service;
		}

		static void listenTo(AiServiceContext service) {
			service.eventListenerRegistrar.register(new Marking(service));
		}

		@Override
		public void onEvent(AiServiceResponseReceivedEvent event) {
			LlmCall call = LlmCall.current();
			if (call != null && asked(event).anyMatch((tool) -> !isReadOnly(tool, event.request()))) {
				call.sideEffect();
			}
		}

		private static Stream<String> asked(AiServiceResponseReceivedEvent event) {
			return event.response().aiMessage().toolExecutionRequests().stream().map(ToolExecutionRequest::name);
		}

		private boolean isReadOnly(String tool, ChatRequest request) {
			if (this.service.toolService.toolExecutors().get(tool) instanceof DefaultToolExecutor executor
					&& ToolMethods.isReadOnly(executor.originalMethod())) {
				return true;
			}
			return request.toolSpecifications()
				.stream()
				.filter((specification) -> specification.name().equals(tool))
				.anyMatch((specification) -> Boolean.TRUE.equals(specification.metadata().get(READ_ONLY)));
		}

	}

}
