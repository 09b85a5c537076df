package dev.llmresilience.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import dev.llmresilience.LlmRetry;
import dev.llmresilience.RecoveryStrategy;
import dev.llmresilience.engine.CallEngine;
import dev.llmresilience.engine.CallOptions;
import dev.llmresilience.engine.Provider;
import dev.llmresilience.engine.RecoveryDriver;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ObjectUtils;

/**
 * Finds the {@link RecoveryStrategy} that an annotation names. Thread-safe.
 */
public final class RecoveryStrategies {

	private static final String ATTRIBUTE = "recovery";

	/** What else may be said about a method that has a strategy. */
	private static final Set<String> TOGETHER = Set.of(ATTRIBUTE, "value", "provider", "maxAttempts", "idempotent");

	private final CallEngine engine;

	private final ListableBeanFactory beanFactory;

	/**
	 * Creates it.
	 * @param engine what recoveries share with protected calls
	 * @param beanFactory knows the strategies
	 */
	public RecoveryStrategies(CallEngine engine, ListableBeanFactory beanFactory) {
		this.engine = engine;
		this.beanFactory = beanFactory;
	}

	/**
	 * Finds what runs a method in place of a protected call.
	 * @param annotation the annotation
	 * @param method the method, as the class implements it
	 * @param provider whose rules judge its failures
	 * @param options what it asks for besides
	 * @return the driver, or {@code null} if the annotation names no strategy
	 * @throws InvalidLlmRetryException if there is no such strategy, or none can work
	 */
	@Nullable RecoveryDriver find(LlmRetry annotation, Method method, Provider provider, CallOptions options) {
		String name = annotation.recovery();
		if (name.isEmpty()) {
			return null;
		}
		if (returnsBeforeItsResult(method)) {
			throw new InvalidLlmRetryException(method, ATTRIBUTE, name,
					"cannot work: the method returns a " + method.getReturnType().getSimpleName()
							+ " before it is known whether it fails",
					"Annotate a method that returns the result itself.");
		}
		List<String> ignored = ignored(annotation);
		if (!ignored.isEmpty()) {
			throw new InvalidLlmRetryException(method, ATTRIBUTE, name,
					"leaves no room for " + ignored + ": the strategy alone decides what follows a failure",
					"Remove these attributes, or remove recovery if the method calls a model.");
		}
		List<String> known = Stream
			.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, RecoveryStrategy.class))
			.sorted()
			.toList();
		if (!this.beanFactory.containsBean(name) || !this.beanFactory.isTypeMatch(name, RecoveryStrategy.class)) {
			throw new InvalidLlmRetryException(method, ATTRIBUTE, name,
					"names no bean of type RecoveryStrategy: "
							+ (known.isEmpty() ? "there are none" : "known are " + known),
					"Use the name of such a bean, or add one.");
		}
		return new RecoveryDriver(this.engine, provider, options, method, name,
				this.beanFactory.getBean(name, RecoveryStrategy.class));
	}

	private static boolean returnsBeforeItsResult(Method method) {
		Class<?> type = method.getReturnType();
		return Suspending.is(method) || Future.class.isAssignableFrom(type)
				|| CompletionStage.class.isAssignableFrom(type)
				|| ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
	}

	private static List<String> ignored(LlmRetry annotation) {
		return Arrays.stream(LlmRetry.class.getDeclaredMethods())
			.filter((attribute) -> !TOGETHER.contains(attribute.getName()))
			.filter((attribute) -> !ObjectUtils
				.nullSafeEquals(AnnotationUtils.getValue(annotation, attribute.getName()), attribute.getDefaultValue()))
			.map(Method::getName)
			.sorted()
			.toList();
	}

}
