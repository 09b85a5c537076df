package dev.llmresilience.autoconfigure;

import dev.llmresilience.LlmResilience;
import dev.llmresilience.aop.LlmRetryAspect;
import dev.llmresilience.aop.LlmRetryMethods;
import dev.llmresilience.aop.LlmRetryPointcut;
import dev.llmresilience.aop.MethodPlans;
import dev.llmresilience.engine.BlockingDriver;
import dev.llmresilience.engine.CallEngine;
import dev.llmresilience.engine.DefaultLlmResilience;
import dev.llmresilience.engine.Providers;
import dev.llmresilience.failure.DefaultFailureClassifier;
import dev.llmresilience.failure.FailureClassifier;
import dev.llmresilience.time.SystemTimeSource;
import dev.llmresilience.time.TimeSource;

import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of protected calls: the advice for annotated methods, the
 * programmatic twin, and what both share.
 */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "llm.resilience.enabled", matchIfMissing = true)
@EnableConfigurationProperties(LlmResilienceProperties.class)
public final class LlmResilienceAutoConfiguration {

	LlmResilienceAutoConfiguration() {
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LlmRetryPointcut llmRetryPointcut() {
		return new LlmRetryPointcut();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LlmRetryAspect llmRetryAspect(ObjectProvider<MethodPlans> plans, ObjectProvider<BlockingDriver> driver) {
		return new LlmRetryAspect(plans::getObject, driver::getObject);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DefaultPointcutAdvisor llmRetryAdvisor(LlmRetryPointcut pointcut, LlmRetryAspect aspect,
			Environment environment) {
		DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(pointcut, aspect);
		advisor.setOrder(environment.getProperty("llm.resilience.aspect.order", Integer.class,
				LlmResilienceProperties.Aspect.DEFAULT_ORDER));
		return advisor;
	}

	@Bean
	static ProviderGuardBeans llmProviderGuardBeans(Environment environment) {
		return new ProviderGuardBeans(environment);
	}

	@Bean
	@ConditionalOnMissingBean(TimeSource.class)
	SystemTimeSource llmTimeSource() {
		return new SystemTimeSource();
	}

	@Bean
	@ConditionalOnMissingBean(FailureClassifier.class)
	DefaultFailureClassifier llmFailureClassifier() {
		return new DefaultFailureClassifier();
	}

	@Bean
	Providers llmProviders(LlmResilienceProperties properties, Environment environment, TimeSource time,
			ApplicationEventPublisher publisher) {
		new PropertyNames().check(environment);
		return new Providers(ProviderSettingsFactory.create(properties), time, new GuardEvents(publisher));
	}

	@Bean
	CallEngine llmCallEngine(TimeSource time, FailureClassifier classifier) {
		return new CallEngine(time, classifier);
	}

	@Bean
	BlockingDriver llmBlockingDriver(CallEngine engine) {
		return new BlockingDriver(engine);
	}

	@Bean
	@ConditionalOnMissingBean(LlmResilience.class)
	DefaultLlmResilience llmResilience(Providers providers, BlockingDriver driver) {
		return new DefaultLlmResilience(providers, driver);
	}

	@Bean
	MethodPlans llmMethodPlans(Providers providers, Environment environment, LlmResilienceProperties properties) {
		return new MethodPlans(providers, environment::resolveRequiredPlaceholders, properties.strict());
	}

	@Bean
	LlmRetryMethods llmRetryMethods(LlmRetryPointcut pointcut, MethodPlans plans,
			ConfigurableListableBeanFactory beanFactory) {
		return new LlmRetryMethods(pointcut, plans, beanFactory);
	}

	@Bean
	EngineLifecycle llmEngineLifecycle(CallEngine engine, Providers providers) {
		return new EngineLifecycle(engine, providers);
	}

}
