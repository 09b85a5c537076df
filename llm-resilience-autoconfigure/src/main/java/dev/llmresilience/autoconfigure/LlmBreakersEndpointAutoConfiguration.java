package dev.llmresilience.autoconfigure;

import dev.llmresilience.actuate.LlmBreakersEndpoint;
import dev.llmresilience.actuate.LlmBreakersEndpointWebExtension;
import dev.llmresilience.engine.Providers;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the {@code llmbreakers} endpoint, where Actuator is there and
 * calls are protected.
 */
@AutoConfiguration(after = LlmResilienceAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBooleanProperty(name = "llm.resilience.enabled", matchIfMissing = true)
public final class LlmBreakersEndpointAutoConfiguration {

	LlmBreakersEndpointAutoConfiguration() {
	}

	@Bean
	@ConditionalOnBean(Providers.class)
	@ConditionalOnAvailableEndpoint
	LlmBreakersEndpoint llmBreakersEndpoint(Providers providers) {
		return new LlmBreakersEndpoint(providers);
	}

	@Bean
	@ConditionalOnBean(LlmBreakersEndpoint.class)
	LlmBreakersEndpointWebExtension llmBreakersEndpointWebExtension(LlmBreakersEndpoint endpoint) {
		return new LlmBreakersEndpointWebExtension(endpoint);
	}

}
