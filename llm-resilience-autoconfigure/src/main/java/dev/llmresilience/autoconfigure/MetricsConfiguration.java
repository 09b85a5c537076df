package dev.llmresilience.autoconfigure;

import dev.llmresilience.engine.CallMonitor;
import dev.llmresilience.metrics.LlmMeters;
import io.micrometer.core.instrument.MeterRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Meters, where Micrometer is.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(MeterRegistry.class)
class MetricsConfiguration {

	@Bean
	@ConditionalOnMissingBean(CallMonitor.Factory.class)
	LlmMeters llmMeters(ObjectProvider<MeterRegistry> registry) {
		return new LlmMeters(registry::getIfAvailable);
	}

}
