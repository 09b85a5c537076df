package dev.llmresilience.weaving;

import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.util.concurrent.atomic.AtomicInteger;

import dev.llmresilience.autoconfigure.LlmResilienceAutoConfiguration;
import dev.llmresilience.limiter.RateLimiter;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/**
 * A provider that nobody reaches, and how often somebody tried.
 */
final class Attempts {

	/** What the policy allows. */
	static final int PROTECTED = 4;

	static final int UNPROTECTED = 1;

	private static final int BURST = 100;

	private final AtomicInteger count = new AtomicInteger();

	/** An application whose limiter shows how many attempts were made under it. */
	static ApplicationContextRunner runner() {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, LlmResilienceAutoConfiguration.class))
			.withPropertyValues("llm.resilience.providers.default.retry.base-delay=1ms",
					"llm.resilience.providers.default.limiter.mode=fixed",
					"llm.resilience.providers.default.limiter.requests-per-minute=0.001",
					"llm.resilience.providers.default.limiter.burst=" + BURST);
	}

	/**
	 * The attempts that the advice made. A method that is advised twice takes two slots
	 * for its first.
	 */
	static int advised(ApplicationContext context) {
		return BURST - (int) Math.round(context.getBean("defaultRateLimiter", RateLimiter.class).level());
	}

	String fail() {
		this.count.incrementAndGet();
		throw refused();
	}

	static UncheckedIOException refused() {
		return new UncheckedIOException(new ConnectException("refused"));
	}

	int count() {
		return this.count.get();
	}

}
