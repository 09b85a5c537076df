package dev.llmresilience.autoconfigure;

import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.budget.RetryBudget;
import dev.llmresilience.limiter.RateLimiter;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * Makes each provider entry's guards beans, named and qualified by the name of the entry:
 * {@code anthropicCircuitBreaker} is {@code @Qualifier("anthropic") CircuitBreaker}. A
 * guard that is switched off is no bean.
 */
final class ProviderGuardBeans implements BeanDefinitionRegistryPostProcessor {

	private static final String PROVIDERS = "llm.resilience.providers";

	private static final String DEFAULT = "default";

	private final Environment environment;

	ProviderGuardBeans(Environment environment) {
		this.environment = environment;
	}

	@Override
	public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
		for (String name : names()) {
			register(registry, name, RateLimiter.class, "limiter");
			if (isEnabled(name, "budget")) {
				register(registry, name, RetryBudget.class, "budget");
			}
			if (isEnabled(name, "breaker")) {
				register(registry, name, CircuitBreaker.class, "breaker");
			}
		}
	}

	private Set<String> names() {
		Set<String> names = new LinkedHashSet<>();
		names.add(DEFAULT);
		Binder.get(this.environment)
			.bind(PROVIDERS, Bindable.mapOf(String.class, Object.class))
			.map(Map::keySet)
			.ifBound(names::addAll);
		return names;
	}

	private boolean isEnabled(String name, String guard) {
		String property = PROVIDERS + ".%s." + guard + ".enabled";
		boolean inherited = this.environment.getProperty(property.formatted(DEFAULT), Boolean.class, true);
		return this.environment.getProperty(property.formatted(name), Boolean.class, inherited);
	}

	private static void register(BeanDefinitionRegistry registry, String name, Class<?> type, String factoryMethod) {
		RootBeanDefinition definition = new RootBeanDefinition();
		definition.setTargetType(type);
		definition.setFactoryBeanName("llmProviders");
		definition.setFactoryMethodName(factoryMethod);
		definition.getConstructorArgumentValues().addGenericArgumentValue(name);
		definition.addQualifier(new AutowireCandidateQualifier(Qualifier.class, name));
		registry.registerBeanDefinition(StringUtils.uncapitalize(name) + type.getSimpleName(), definition);
	}

}
