package dev.llmresilience.sample.web;

import org.jspecify.annotations.Nullable;

import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/**
 * Asks one question.
 */
@RestController
class AskController {

	private final Chats chats;

	AskController(Chats chats) {
		this.chats = chats;
	}

	@PostMapping("/ask")
	Answer ask(@RequestBody Question question) {
		String prompt = question.prompt();
		if (prompt == null || prompt.isBlank()) {
			throw Chats.badRequest("prompt must be a text, but was missing or blank");
		}
		return new Answer(this.chats.get(question.provider()).ask(prompt));
	}

	/**
	 * A question.
	 *
	 * @param provider whom to ask
	 * @param prompt what to ask
	 */
	record Question(@Nullable String provider, @Nullable String prompt) {
	}

	/**
	 * An answer.
	 *
	 * @param answer the model's text
	 */
	record Answer(String answer) {
	}

}
