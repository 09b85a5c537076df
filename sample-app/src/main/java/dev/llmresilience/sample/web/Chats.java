package dev.llmresilience.sample.web;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.llmresilience.sample.chat.Chat;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

/**
 * The chats by the name of their provider.
 */
@Component
class Chats {

	private final Map<String, Chat> chats = new LinkedHashMap<>();

	Chats(List<Chat> chats) {
		chats.forEach((chat) -> this.chats.put(chat.upstream().name(), chat));
	}

	/**
	 * Finds the chat of a provider.
	 * @param provider the provider's name
	 * @return the chat
	 * @throws ResponseStatusException a 400 that names the known ones
	 */
	Chat get(@Nullable String provider) {
		Chat chat = (provider != null) ? this.chats.get(provider) : null;
		if (chat == null) {
			throw badRequest("provider must be one of " + String.join(", ", this.chats.keySet()) + ", but was "
					+ ((provider != null) ? provider : "missing"));
		}
		return chat;
	}

	static ResponseStatusException badRequest(String reason) {
		return new ResponseStatusException(HttpStatus.BAD_REQUEST, reason);
	}

}
