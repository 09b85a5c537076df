package dev.llmresilience.autoconfigure;

import dev.llmresilience.ReactiveLlmResilience;
import dev.llmresilience.aop.ReactiveShape;
import dev.llmresilience.engine.CallEngine;
import dev.llmresilience.engine.DefaultReactiveLlmResilience;
import dev.llmresilience.engine.Providers;
import dev.llmresilience.engine.ReactiveDriver;
import reactor.core.publisher.Flux;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Reactive calls, where Reactor is.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(Flux.class)
class ReactiveConfiguration {

	@Bean
	ReactiveDriver llmReactiveDriver(CallEngine engine) {
		return new ReactiveDriver(engine);
	}

	@Bean
	ReactiveShape llmReactiveShape(ReactiveDriver driver) {
		return new ReactiveShape(driver);
	}

	@Bean
	@ConditionalOnMissingBean
	ReactiveLlmResilience llmReactiveResilience(LlmResilienceProperties properties, Providers providers,
			ReactiveDriver driver) {
		return properties.enabled() ? new DefaultReactiveLlmResilience(providers, driver)
				: new UnprotectedReactiveCalls();
	}

}
