package dev.llmresilience.autoconfigure;

import dev.llmresilience.TokenEstimator;
import dev.llmresilience.aop.BlockingShape;
import dev.llmresilience.aop.CallShape;
import dev.llmresilience.aop.CallShapes;
import dev.llmresilience.aop.FutureShape;
import dev.llmresilience.aop.LlmRetryAspect;
import dev.llmresilience.aop.LlmRetryMethods;
import dev.llmresilience.aop.LlmRetryPointcut;
import dev.llmresilience.aop.MethodPlans;
import dev.llmresilience.aop.RecoveryStrategies;
import dev.llmresilience.aop.WovenAdvice;
import dev.llmresilience.engine.BlockingDriver;
import dev.llmresilience.engine.CallEngine;
import dev.llmresilience.engine.FutureDriver;
import dev.llmresilience.engine.Providers;
import dev.llmresilience.engine.SharedCalls;

import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * The advice for annotated methods. Not there when calls are not to be protected.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = "llm.resilience.enabled", matchIfMissing = true)
class LlmRetryConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LlmRetryPointcut llmRetryPointcut() {
		return new LlmRetryPointcut();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LlmRetryAspect llmRetryAspect(ObjectProvider<MethodPlans> plans, ObjectProvider<SharedCalls> shared) {
		return new LlmRetryAspect(plans::getObject, shared::getObject);
	}

	/**
	 * Reads its order from the environment, because the properties are a bean like any
	 * other and must not be created so early.
	 */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DefaultPointcutAdvisor llmRetryAdvisor(LlmRetryPointcut pointcut, LlmRetryAspect aspect,
			Environment environment) {
		DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(pointcut, aspect);
		advisor.setOrder(LlmResilienceProperties.Aspect.DEFAULT_ORDER);
		Binder.get(environment).bind("llm.resilience.aspect.order", Integer.class).ifBound(advisor::setOrder);
		return advisor;
	}

	/**
	 * With the only estimator, or the primary one, or else the first in order.
	 */
	@Bean
	MethodPlans llmMethodPlans(Providers providers, Environment environment, LlmResilienceProperties properties,
			ObjectProvider<TokenEstimator> estimators, CallShapes shapes, CallEngine engine,
			ListableBeanFactory beanFactory) {
		TokenEstimator estimator = estimators.getIfUnique();
		return new MethodPlans(providers, environment::resolveRequiredPlaceholders, properties.strict(),
				(estimator != null) ? estimator : estimators.orderedStream().findFirst().orElse(null), shapes,
				new RecoveryStrategies(engine, beanFactory));
	}

	@Bean
	CallShapes llmCallShapes(BlockingDriver blocking, ObjectProvider<CallShape.Factory> others) {
		return new CallShapes(new BlockingShape(blocking), others.orderedStream().toList());
	}

	@Bean
	SharedCalls llmSharedCalls(CallEngine engine) {
		return new SharedCalls(engine);
	}

	@Bean
	WovenAdvice llmWovenAdvice(LlmRetryAspect aspect) {
		return new WovenAdvice(aspect);
	}

	@Bean
	FutureShape llmFutureShape(FutureDriver driver) {
		return new FutureShape(driver);
	}

	@Bean
	LlmRetryMethods llmRetryMethods(LlmRetryPointcut pointcut, MethodPlans plans,
			ConfigurableListableBeanFactory beanFactory) {
		return new LlmRetryMethods(pointcut, plans, beanFactory);
	}

}
