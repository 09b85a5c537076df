package dev.llmresilience.autoconfigure;

import dev.llmresilience.actuate.LlmBreakersHealthIndicator;
import dev.llmresilience.engine.Providers;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the health contributor {@code llmBreakers}, where Spring Boot's
 * health is there and calls are protected.
 */
@AutoConfiguration(after = LlmResilienceAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnEnabledHealthIndicator.class)
@ConditionalOnBooleanProperty(name = "llm.resilience.enabled", matchIfMissing = true)
public final class LlmBreakersHealthAutoConfiguration {

	LlmBreakersHealthAutoConfiguration() {
	}

	@Bean
	@ConditionalOnBean(Providers.class)
	@ConditionalOnMissingBean(name = "llmBreakersHealthIndicator")
	@ConditionalOnEnabledHealthIndicator("llmbreakers")
	LlmBreakersHealthIndicator llmBreakersHealthIndicator(Providers providers) {
		return new LlmBreakersHealthIndicator(providers);
	}

}
