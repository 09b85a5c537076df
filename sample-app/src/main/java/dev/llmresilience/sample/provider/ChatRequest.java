package dev.llmresilience.sample.provider;

import java.util.List;
import java.util.regex.Pattern;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The part of a chat request that the embedded provider looks at. Both APIs share it.
 *
 * @param model the model's name
 * @param prompt the text of the last message
 * @param stream whether the answer is wanted as server-sent events
 * @param includeUsage whether an OpenAI stream is to end with the usage
 */
record ChatRequest(String model, String prompt, boolean stream, boolean includeUsage) {

	private static final Pattern AFTER_A_SPACE = Pattern.compile("(?<= )");

	private static final JsonMapper JSON = new JsonMapper();

	/**
	 * Reads a request body.
	 * @param body the JSON
	 * @return the request
	 * @throws IllegalArgumentException saying what is wrong with it
	 */
	static ChatRequest parse(byte[] body) {
		JsonNode json;
		try {
			json = JSON.readTree(body);
		}
		catch (JacksonException ex) {
			throw new IllegalArgumentException("The request body is not valid JSON", ex);
		}
		String model = json.path("model").asString("");
		JsonNode messages = json.path("messages");
		if (model.isEmpty()) {
			throw new IllegalArgumentException("model: Field required");
		}
		if (!messages.isArray() || messages.isEmpty()) {
			throw new IllegalArgumentException("messages: at least one message is required");
		}
		return new ChatRequest(model, text(messages.get(messages.size() - 1).path("content")),
				json.path("stream").asBoolean(false),
				json.path("stream_options").path("include_usage").asBoolean(false));
	}

	boolean isWarmUp() {
		return EmbeddedProvider.WARM_UP_MODEL.equals(this.model);
	}

	String answer() {
		return "You said: " + this.prompt;
	}

	List<String> answerInPieces() {
		return AFTER_A_SPACE.splitAsStream(answer()).toList();
	}

	int inputTokens() {
		return tokens(this.prompt);
	}

	int outputTokens() {
		return tokens(answer());
	}

	int allTokens() {
		return inputTokens() + outputTokens();
	}

	/**
	 * Writes a text as a JSON string.
	 * @param text the text
	 * @return the text in quotation marks
	 */
	static String quoted(String text) {
		return JSON.writeValueAsString(text);
	}

	private static int tokens(String text) {
		return 1 + text.length() / 4;
	}

	private static String text(JsonNode content) {
		if (!content.isArray()) {
			return content.asString("");
		}
		StringBuilder text = new StringBuilder();
		content.forEach((block) -> text.append(block.path("text").asString("")));
		return text.toString();
	}

}
