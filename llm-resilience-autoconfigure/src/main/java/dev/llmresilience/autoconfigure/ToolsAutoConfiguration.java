package dev.llmresilience.autoconfigure;

import dev.llmresilience.tools.SpringAiTools;

import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Auto-configuration of the side effects of tools: whatever runs tools for Spring AI and
 * is a bean marks them. LangChain4j finds what it needs by itself.
 */
@AutoConfiguration(after = LlmResilienceAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "llm.resilience.enabled", matchIfMissing = true)
public final class ToolsAutoConfiguration {

	ToolsAutoConfiguration() {
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ToolCallingManager.class)
	static class SpringAi {

		@Bean
		static BeanPostProcessor llmToolCallingManagerPostProcessor() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String beanName) {
					return (bean instanceof ToolCallingManager manager) ? SpringAiTools.markingSideEffects(manager)
							: bean;
				}

			};
		}

	}

}
