package dev.llmresilience.failure;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.TokenStreamContext;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads the fields of an error body out of bytes or text that may be anything: JSON, cut
 * JSON, a proxy's HTML page, plain text, junk. What was read before the first offence
 * counts. Thread-safe.
 */
final class ErrorBodyParser {

	private static final int MAX_LENGTH = 64 * 1024;

	// Property names of foreign bodies are not worth remembering.
	private static final JsonFactory JSON = JsonFactory.builder()
		.disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
		.build();

	private static final String BYTE_ORDER_MARK = "\uFEFF";

	private ErrorBodyParser() {
	}

	static ErrorBody parse(byte[] bytes) {
		byte[] head = (bytes.length > MAX_LENGTH) ? Arrays.copyOf(bytes, MAX_LENGTH) : bytes;
		return parse(new String(head, StandardCharsets.UTF_8));
	}

	static ErrorBody parse(String text) {
		String head = (text.length() > MAX_LENGTH) ? text.substring(0, MAX_LENGTH) : text;
		head = (head.startsWith(BYTE_ORDER_MARK) ? head.substring(1) : head).strip();
		ErrorFields fields = new ErrorFields();
		if (head.startsWith("{") || head.startsWith("[")) {
			parseJson(head, fields);
		}
		else if (!head.startsWith("<")) {
			// A proxy's page may hold any word, but a plain sentence is a message.
			fields.put(null, null, head);
		}
		return fields.toBody();
	}

	private static void parseJson(String json, ErrorFields fields) {
		try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), json)) {
			JsonToken token = parser.nextToken();
			while (token != null) {
				if (token.isScalarValue() && token != JsonToken.VALUE_NULL) {
					TokenStreamContext object = enclosingObject(parser.streamReadContext());
					TokenStreamContext outer = (object != null) ? enclosingObject(object.getParent()) : null;
					fields.put(nameIn(outer), nameIn(object), parser.getString());
				}
				token = parser.nextToken();
			}
		}
		catch (JacksonException ex) {
			// Error bodies are cut and broken every day; what came before is good.
		}
	}

	private static @Nullable TokenStreamContext enclosingObject(@Nullable TokenStreamContext context) {
		TokenStreamContext object = context;
		while (object != null && object.inArray()) {
			object = object.getParent();
		}
		return object;
	}

	private static @Nullable String nameIn(@Nullable TokenStreamContext context) {
		return (context != null) ? context.currentName() : null;
	}

}
