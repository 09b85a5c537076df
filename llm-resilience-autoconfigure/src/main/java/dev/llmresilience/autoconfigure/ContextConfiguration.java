package dev.llmresilience.autoconfigure;

import dev.llmresilience.engine.ContextCarrier;
import dev.llmresilience.engine.MicrometerContextCarrier;
import io.micrometer.context.ContextSnapshotFactory;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Carries contexts to other threads, where Micrometer's context propagation is.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ContextSnapshotFactory.class)
class ContextConfiguration {

	@Bean
	@ConditionalOnMissingBean(ContextCarrier.class)
	MicrometerContextCarrier llmContextCarrier() {
		return new MicrometerContextCarrier();
	}

}
