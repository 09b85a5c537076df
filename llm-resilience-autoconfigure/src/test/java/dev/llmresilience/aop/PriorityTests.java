package dev.llmresilience.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.llmresilience.LlmResilience;
import dev.llmresilience.LlmRetry;
import dev.llmresilience.Priority;
import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.limiter.RateLimiter;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/** The order in which methods of different priority are let out, behind a real proxy. */
class PriorityTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class))
		.withBean(Chat.class)
		.withPropertyValues("llm.resilience.providers.anthropic.limiter.requests-per-minute=1",
				"llm.resilience.providers.anthropic.limiter.burst=1");

	@Test
	void anUrgentMethodGoesFirstThoughItCameLast() {
		this.runner.run((context) -> {
			Chat chat = context.getBean(Chat.class);
			RateLimiter limiter = context.getBean("anthropicRateLimiter", RateLimiter.class);
			chat.ordinary();
			List<Thread> callers = new ArrayList<>();
			for (Runnable call : List.<Runnable>of(chat::batch, chat::ordinary, chat::urgent)) {
				Thread caller = new Thread(call);
				caller.start();
				callers.add(caller);
				Awaitility.await().until(() -> limiter.waiting() == callers.size());
			}
			context.getBean(LlmResilience.class).setRequestsPerMinute("anthropic", 3000);
			for (Thread caller : callers) {
				caller.join();
			}
			assertThat(chat.order()).containsExactly("ordinary", "urgent", "ordinary", "batch");
		});
	}

	static class Chat {

		private final List<String> order = new CopyOnWriteArrayList<>();

		public List<String> order() {
			return this.order;
		}

		@LlmRetry(provider = "anthropic", priority = Priority.HIGH)
		public void urgent() {
			this.order.add("urgent");
		}

		@LlmRetry("anthropic")
		public void ordinary() {
			this.order.add("ordinary");
		}

		@LlmRetry(provider = "anthropic", priority = Priority.LOW)
		public void batch() {
			this.order.add("batch");
		}

	}

}
