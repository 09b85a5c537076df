package dev.llmresilience.sample.web;

import dev.llmresilience.sample.chat.EitherChat;
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

	private final EitherChat either;

	AskController(Chats chats, EitherChat either) {
		this.chats = chats;
		this.either = either;
	}

	@PostMapping("/ask")
	Answer ask(@RequestBody Question question) {
		return new Answer(this.chats.get(question.provider()).ask(prompt(question)));
	}

	/** Of whichever provider can answer. */
	@PostMapping("/ask/either")
	EitherChat.Answer askEither(@RequestBody Question question) {
		return this.either.ask(prompt(question));
	}

	private static String prompt(Question question) {
		String prompt = question.prompt();
		if (prompt == null || prompt.isBlank()) {
			throw Chats.badRequest("prompt must be a text, but was missing or blank");
		}
		return prompt;
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
