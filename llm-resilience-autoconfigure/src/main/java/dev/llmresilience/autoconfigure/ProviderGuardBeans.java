package dev.llmresilience.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Map;

import dev.llmresilience.autoconfigure.LlmResilienceProperties.ProviderEntry;
import dev.llmresilience.breaker.CircuitBreaker;
import dev.llmresilience.budget.RetryBudget;
import dev.llmresilience.engine.ProviderSettings;
import dev.llmresilience.limiter.RateLimiter;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.IgnoreTopLevelConverterNotFoundBindHandler;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * Makes each provider entry's guards beans, named and qualified by the name of the entry:
 * {@code anthropicCircuitBreaker} is {@code @Qualifier("anthropic") CircuitBreaker}. A
 * guard that is switched off is no bean, and where the application has a bean of that
 * name it keeps it.
 */
final class ProviderGuardBeans implements BeanDefinitionRegistryPostProcessor {

	/** The attribute of the definitions that are made here. */
	static final String GUARD = ProviderGuardBeans.class.getName();

	private final Environment environment;

	ProviderGuardBeans(Environment environment) {
		this.environment = environment;
	}

	@Override
	public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
		Map<String, ProviderEntry> entries = new LinkedHashMap<>();
		entries.put(ProviderSettings.DEFAULT_NAME, ProviderEntry.NOTHING);
		Binder.get(this.environment)
			.bind("llm.resilience", Bindable.of(LlmResilienceProperties.class),
					new EmptyGroups().apply(new IgnoreTopLevelConverterNotFoundBindHandler()))
			.ifBound((properties) -> entries.putAll(ProviderNames.spelled(properties.providers(), this.environment)));
		ProviderEntry defaults = entries.getOrDefault(ProviderSettings.DEFAULT_NAME, ProviderEntry.NOTHING);
		entries.forEach((name, entry) -> {
			register(registry, name, RateLimiter.class, "limiter");
			if (isOn(entry, defaults, (of) -> (of.budget() != null) ? of.budget().enabled() : null)) {
				register(registry, name, RetryBudget.class, "budget");
			}
			if (isOn(entry, defaults, (of) -> (of.breaker() != null) ? of.breaker().enabled() : null)) {
				register(registry, name, CircuitBreaker.class, "breaker");
			}
		});
	}

	private static boolean isOn(ProviderEntry entry, ProviderEntry defaults, Switch property) {
		Boolean own = property.of(entry);
		Boolean on = (own != null) ? own : property.of(defaults);
		return on == null || on;
	}

	private static void register(BeanDefinitionRegistry registry, String name, Class<?> type, String factoryMethod) {
		String beanName = StringUtils.uncapitalize(name) + type.getSimpleName();
		if (registry.containsBeanDefinition(beanName)) {
			return;
		}
		RootBeanDefinition definition = new RootBeanDefinition();
		definition.setTargetType(type);
		definition.setFactoryBeanName("llmProviders");
		definition.setFactoryMethodName(factoryMethod);
		definition.getConstructorArgumentValues().addGenericArgumentValue(name);
		definition.addQualifier(new AutowireCandidateQualifier(Qualifier.class, name));
		definition.setAttribute(GUARD, true);
		registry.registerBeanDefinition(beanName, definition);
	}

	/** Reads whether a guard is switched on, {@code null} where nothing says so. */
	@FunctionalInterface
	private interface Switch {

		@Nullable Boolean of(ProviderEntry entry);

	}

}
