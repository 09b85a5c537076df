package dev.llmresilience.tools;

import java.util.Map;
import java.util.Objects;

import dev.llmresilience.FailureKind;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.ReadOnlyTool;
import dev.llmresilience.Recovery;
import dev.llmresilience.RecoveryStrategy;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.context.annotation.Bean;

/**
 * The code that the page on tools shows, so that it compiles.
 */
class ToolsPageExamples {

	private final Client client;

	private final Orders orders;

	private final Stations stations;

	private final Mail mail;

	ToolsPageExamples(Client client, Orders orders, Stations stations, Mail mail) {
		this.client = client;
		this.orders = orders;
		this.stations = stations;
		this.mail = mail;
	}

	@Bean
	ChatClient billing(ChatModel model, ToolCallingManager manager) {
		return ChatClient.builder(model)
			.defaultAdvisors(ToolCallingAdvisor.builder().toolCallingManager(manager).build())
			.build();
	}

	@LlmRetry("anthropic")
	String order(String request) {
		Order order = this.client.extractOrder(request);
		LlmCall call = LlmCall.current();
		if (call != null) {
			call.sideEffect();
		}
		this.orders.place(order);
		return this.client.confirm(order);
	}

	@Tool(description = "The weather of a city, now")
	@ReadOnlyTool
	String weather(String city) {
		return this.stations.latest(city);
	}

	@Bean
	ToolCallback rates(RateService rates) {
		return SpringAiTools.readOnly(FunctionToolCallback.builder("rates", rates::of)
			.description("The exchange rate of a currency")
			.inputType(Currency.class)
			.build());
	}

	@Tool(description = "Sends a message to the customer")
	@LlmRetry(recovery = "sendOnce")
	String send(String address, String text) {
		return this.mail.send(address, text);
	}

	@Bean
	RecoveryStrategy sendOnce(Outbox outbox) {
		return (run) -> {
			if (run.failure().kind() == FailureKind.CONNECTION && !run.failure().sent()) {
				return Recovery.retry();
			}
			if (outbox.contains(run.arguments().get(0))) {
				return Recovery.skip("The message is on its way.");
			}
			return Recovery.fail();
		};
	}

	@LlmRetry("anthropic")
	String ask(String question) {
		LlmCall call = Objects.requireNonNull(LlmCall.current());
		return this.client.ask(question, Map.of("Idempotency-Key", call.idempotencyKey()));
	}

	/** Stands for a client of one's own. */
	interface Client {

		Order extractOrder(String request);

		String confirm(Order order);

		String ask(String question, Map<String, String> headers);

	}

	interface Orders {

		void place(Order order);

	}

	interface Stations {

		String latest(String city);

	}

	interface RateService {

		double of(Currency currency);

	}

	interface Mail {

		String send(String address, String text);

	}

	interface Outbox {

		boolean contains(@Nullable Object address);

	}

	record Order(String item) {
	}

	record Currency(String code) {
	}

}
