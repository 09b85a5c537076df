package dev.llmresilience.autoconfigure;

import dev.llmresilience.aop.MethodPlans;
import dev.llmresilience.engine.Providers;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of what lets changed properties take effect while the application
 * runs, where Spring Cloud tells of them.
 */
@AutoConfiguration(after = LlmResilienceAutoConfiguration.class)
@ConditionalOnClass(EnvironmentChangeEvent.class)
@ConditionalOnBooleanProperty(name = "llm.resilience.enabled", matchIfMissing = true)
public final class PropertyChangesAutoConfiguration {

	PropertyChangesAutoConfiguration() {
	}

	@Bean
	@ConditionalOnBean(Providers.class)
	EnvironmentChanges llmEnvironmentChanges(Environment environment, Providers providers,
			ObjectProvider<MethodPlans> plans) {
		return new EnvironmentChanges(new ChangedProperties(environment, providers, plans));
	}

	/**
	 * Hears of changes.
	 */
	static final class EnvironmentChanges implements ApplicationListener<EnvironmentChangeEvent> {

		private final ChangedProperties properties;

		EnvironmentChanges(ChangedProperties properties) {
			this.properties = properties;
		}

		@Override
		public void onApplicationEvent(EnvironmentChangeEvent event) {
			if (event.getKeys().stream().anyMatch(ChangedProperties::isOfProvider)) {
				this.properties.apply();
			}
		}

	}

}
