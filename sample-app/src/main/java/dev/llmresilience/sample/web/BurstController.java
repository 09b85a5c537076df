package dev.llmresilience.sample.web;

import java.util.concurrent.locks.ReentrantLock;

import dev.llmresilience.sample.chat.Chat;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Asks many questions at once and tells how it went.
 */
@RestController
class BurstController {

	private static final int MAX_CALLS = 2000;

	private static final int MAX_REAL_CALLS = 1000;

	private final ReentrantLock oneAtATime = new ReentrantLock();

	private final Chats chats;

	BurstController(Chats chats) {
		this.chats = chats;
	}

	@PostMapping("/burst")
	BurstResult burst(@RequestParam(defaultValue = "anthropic") String provider,
			@RequestParam(defaultValue = "100") int calls, @RequestParam(defaultValue = "false") boolean confirm)
			throws InterruptedException {
		Chat chat = this.chats.get(provider);
		boolean real = chat.upstream().account() == null;
		int most = real ? MAX_REAL_CALLS : MAX_CALLS;
		if (calls < 1 || calls > most) {
			throw Chats.badRequest("calls must be between 1 and " + most + ", but was " + calls);
		}
		if (real && !confirm) {
			throw Chats.badRequest("confirm=true is needed, because these " + calls + " calls go to the real "
					+ provider + " and cost money");
		}
		if (!this.oneAtATime.tryLock()) {
			throw new ResponseStatusException(HttpStatus.CONFLICT, "Another burst is running, wait for its result");
		}
		try {
			return new Burst(chat, calls).run();
		}
		finally {
			this.oneAtATime.unlock();
		}
	}

}
