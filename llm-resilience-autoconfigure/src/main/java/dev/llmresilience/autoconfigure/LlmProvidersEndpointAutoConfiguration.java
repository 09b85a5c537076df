package dev.llmresilience.autoconfigure;

import java.util.List;

import dev.llmresilience.actuate.LlmProvidersEndpoint;
import dev.llmresilience.actuate.LlmProvidersEndpointWebExtension;
import dev.llmresilience.actuate.ProviderDescriptor.LayerDescriptor;
import dev.llmresilience.aop.LlmRetryMethods;
import dev.llmresilience.engine.Providers;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the {@code llmproviders} endpoint, where Actuator is there and
 * calls are protected.
 */
@AutoConfiguration(after = { LlmResilienceAutoConfiguration.class, RetryLayersAutoConfiguration.class })
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBooleanProperty(name = "llm.resilience.enabled", matchIfMissing = true)
public final class LlmProvidersEndpointAutoConfiguration {

	LlmProvidersEndpointAutoConfiguration() {
	}

	@Bean
	@ConditionalOnBean({ Providers.class, LlmRetryMethods.class })
	@ConditionalOnAvailableEndpoint
	LlmProvidersEndpoint llmProvidersEndpoint(Providers providers, LlmRetryMethods methods,
			ObjectProvider<RetryLayers> layers) {
		return new LlmProvidersEndpoint(providers, methods::all, (name) -> layers(layers, name));
	}

	private static List<LayerDescriptor> layers(ObjectProvider<RetryLayers> layers, String provider) {
		return layers.stream()
			.flatMap((found) -> found.found().stream())
			.filter((layer) -> layer.provider().equals(provider))
			.map((layer) -> new LayerDescriptor(layer.kind().name(), layer.name(), layer.tries(), layer.requests()))
			.toList();
	}

	@Bean
	@ConditionalOnBean(LlmProvidersEndpoint.class)
	LlmProvidersEndpointWebExtension llmProvidersEndpointWebExtension(LlmProvidersEndpoint endpoint) {
		return new LlmProvidersEndpointWebExtension(endpoint);
	}

}
