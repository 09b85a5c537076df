package dev.llmresilience.autoconfigure;

import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.LlmRetry;

import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/**
 * An application with nothing but the library. Loaded by a class loader that hides all
 * that is optional.
 */
public final class BareApplication {

	private BareApplication() {
	}

	/**
	 * Starts, makes a call that fails, and ends.
	 * @return how often the call was tried
	 */
	public static int attempts() {
		System.setProperty("llm.resilience.providers.default.retry.base-delay", "1ms");
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class,
					HttpHooksAutoConfiguration.class, RetryLayersAutoConfiguration.class, ToolsAutoConfiguration.class,
					Chat.class);
			context.refresh();
			Chat chat = context.getBean(Chat.class);
			try {
				chat.call();
			}
			catch (UncheckedIOException ex) {
				return chat.attempts();
			}
			return 0;
		}
		finally {
			System.clearProperty("llm.resilience.providers.default.retry.base-delay");
		}
	}

	/** A bean that calls. */
	public static class Chat {

		private final AtomicInteger attempts = new AtomicInteger();

		@LlmRetry
		public void call() {
			this.attempts.incrementAndGet();
			throw new UncheckedIOException(new ConnectException("refused"));
		}

		public int attempts() {
			return this.attempts.get();
		}

	}

}
