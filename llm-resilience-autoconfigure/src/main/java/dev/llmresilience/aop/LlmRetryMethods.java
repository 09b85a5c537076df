package dev.llmresilience.aop;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;

import dev.llmresilience.LlmRetry;
import dev.llmresilience.engine.CallPlan.Target;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.ReactiveAdapterRegistry;

/**
 * Checks every annotated method once all beans are there, so that what is wrong with one
 * stops the start and does not wait for the first call.
 */
public final class LlmRetryMethods implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(LlmRetryMethods.class);

	private static final List<Class<?>> LATER = List.of(Future.class, CompletionStage.class, BaseStream.class,
			Iterator.class, Flow.Publisher.class);

	/** Of the official SDKs: what is still to be read when the method has returned. */
	private static final Set<String> OPEN_STREAMS = Set.of("com.anthropic.core.http.StreamResponse",
			"com.anthropic.core.http.AsyncStreamResponse", "com.openai.core.http.StreamResponse",
			"com.openai.core.http.AsyncStreamResponse", "com.google.genai.ResponseStream");

	private final LlmRetryPointcut pointcut;

	private final MethodPlans plans;

	private final ConfigurableListableBeanFactory beanFactory;

	/**
	 * Creates it.
	 * @param pointcut knows which classes have annotated methods
	 * @param plans resolves them
	 * @param beanFactory knows all beans
	 */
	public LlmRetryMethods(LlmRetryPointcut pointcut, MethodPlans plans, ConfigurableListableBeanFactory beanFactory) {
		this.pointcut = pointcut;
		this.plans = plans;
		this.beanFactory = beanFactory;
	}

	@Override
	public void afterSingletonsInstantiated() {
		for (Class<?> type : this.pointcut.matched()) {
			this.plans.check(type)
				.stream()
				.filter(this.plans::isBlocking)
				.map(MethodPlan::method)
				.forEach(LlmRetryMethods::warnOfLaterResult);
		}
		for (Method method : this.pointcut.unreachable()) {
			if (OwnInvocation.isWoven(method.getDeclaringClass())) {
				continue;
			}
			logger.warn("@LlmRetry does nothing on " + method.getDeclaringClass().getName() + "." + method.getName()
					+ ": no proxy can stand before a private or static method. Make it an instance method that "
					+ "other beans call, or weave its class.");
		}
		if (!this.beanFactory.containsBeanDefinition(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)) {
			warnOfUnprotected();
		}
	}

	/**
	 * The protected methods of the beans that there are by now.
	 * @return the methods
	 * @throws InvalidLlmRetryException if the annotation of one cannot work
	 */
	public List<ProtectedMethod> all() {
		List<ProtectedMethod> methods = new ArrayList<>();
		for (Class<?> type : this.pointcut.matched()) {
			for (MethodPlan plan : this.plans.check(type)) {
				methods.add(describe(plan, type));
			}
		}
		return methods;
	}

	private ProtectedMethod describe(MethodPlan plan, Class<?> type) {
		LlmRetry annotation = LlmRetryAnnotations.find(plan.method(), type);
		Target target = plan.calls().first();
		return new ProtectedMethod(plan.method(), type, target.provider(),
				(annotation != null) ? annotation.maxAttempts() : 0, target.options(),
				plan.calls().failover().stream().map((other) -> other.provider().name()).toList(),
				(annotation != null && plan.recovery() != null) ? annotation.recovery() : null,
				this.plans.isBlocking(plan) && plan.recovery() == null,
				LlmRetryAnnotations.source(plan.method(), type));
	}

	private static void warnOfLaterResult(Method method) {
		if (isLater(method.getReturnType())) {
			logger.warn("@LlmRetry on " + method.getDeclaringClass().getName() + "." + method.getName()
					+ " protects only the call that opens its " + method.getReturnType().getSimpleName()
					+ ", not what is read from that. Return the result itself, a CompletableFuture, a Mono or a Flux.");
		}
	}

	private static boolean isLater(Class<?> type) {
		for (Class<?> later : LATER) {
			if (later.isAssignableFrom(type)) {
				return true;
			}
		}
		return OPEN_STREAMS.contains(type.getName())
				|| ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
	}

	private void warnOfUnprotected() {
		List<String> unprotected = new ArrayList<>();
		for (String name : this.beanFactory.getBeanDefinitionNames()) {
			Class<?> type = this.beanFactory.getType(name, false);
			if (type != null && this.pointcut.getClassFilter().matches(type) && hasAnnotated(type)
					&& !OwnInvocation.isWoven(type)) {
				unprotected.add(name);
			}
		}
		if (!unprotected.isEmpty()) {
			logger.warn("@LlmRetry does nothing on the beans " + unprotected
					+ ": nothing in this application creates proxies. Remove spring.aop.auto=false, "
					+ "or add spring-boot-starter-aspectj.");
		}
	}

	private static boolean hasAnnotated(Class<?> type) {
		return !MethodIntrospector
			.selectMethods(type,
					(MethodIntrospector.MetadataLookup<Boolean>) (
							method) -> (LlmRetryAnnotations.find(method, type) != null) ? Boolean.TRUE : null)
			.isEmpty();
	}

}
