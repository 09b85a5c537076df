package dev.llmresilience.autoconfigure;

import java.lang.reflect.AnnotatedElement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import dev.llmresilience.aop.LlmRetryMethods;
import dev.llmresilience.aop.ProtectedMethod;
import dev.llmresilience.autoconfigure.RetryLayer.Kind;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Annotations of others that retry the same methods. Knows them by name only. One that
 * nothing in the application acts on is none.
 */
final class AnnotationLayers implements RetryLayerFinder {

	private static final String SPRING = "org.springframework.resilience.annotation.Retryable";

	private static final String SPRING_RETRY = "org.springframework.retry.annotation.Retryable";

	private static final String RESILIENCE4J = "io.github.resilience4j.retry.annotation.Retry";

	private static final int RESILIENCE4J_DEFAULT = 3;

	private final LlmRetryMethods methods;

	private final ConfigurableListableBeanFactory beans;

	private final Binder binder;

	AnnotationLayers(LlmRetryMethods methods, ConfigurableListableBeanFactory beans, Environment environment) {
		this.methods = methods;
		this.beans = beans;
		this.binder = Binder.get(environment);
	}

	@Override
	public Collection<Finding> find() {
		List<Finding> found = new ArrayList<>();
		find(SPRING, "org.springframework.resilience.annotation.RetryAnnotationBeanPostProcessor", this::ofSpring,
				found);
		find(SPRING_RETRY, "org.springframework.retry.annotation.RetryConfiguration", this::ofSpringRetry, found);
		find(RESILIENCE4J, "io.github.resilience4j.spring6.retry.configure.RetryAspect", this::ofResilience4j, found);
		return found;
	}

	private void find(String annotation, String actor, Tries tries, List<Finding> found) {
		ClassLoader loader = this.beans.getBeanClassLoader();
		if (!ClassUtils.isPresent(actor, loader) || this.beans
			.getBeanNamesForType(ClassUtils.resolveClassName(actor, loader), true, false).length == 0) {
			return;
		}
		for (ProtectedMethod method : this.methods.all()) {
			MergedAnnotation<?> present = find(method.method(), annotation);
			if (!present.isPresent()) {
				present = find(method.type(), annotation);
			}
			if (present.isPresent()) {
				found.add(finding(method, ClassUtils.getShortName(annotation), tries.of(present)));
			}
		}
	}

	private static MergedAnnotation<?> find(AnnotatedElement element, String annotation) {
		return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).get(annotation);
	}

	private static Finding finding(ProtectedMethod method, String annotation, int tries) {
		String name = method.type().getName() + "." + method.method().getName();
		return new Finding(Kind.ANNOTATION, name, "@" + annotation + " on " + name, tries, List.of(), method,
				"Remove one of the two annotations", false, false);
	}

	private int ofSpring(MergedAnnotation<?> annotation) {
		long retries = number(annotation.getString("maxRetriesString"), annotation.getLong("maxRetries"));
		return (int) Math.min(Math.max(retries, 0) + 1, Integer.MAX_VALUE);
	}

	private int ofSpringRetry(MergedAnnotation<?> annotation) {
		return (int) number(annotation.getString("maxAttemptsExpression"), annotation.getInt("maxAttempts"));
	}

	/** What is no plain number is an expression, which is not evaluated here. */
	private long number(String text, long otherwise) {
		try {
			String resolved = this.beans.resolveEmbeddedValue(text);
			return (resolved == null || resolved.isBlank()) ? otherwise : Long.parseLong(resolved.strip());
		}
		catch (IllegalArgumentException ex) {
			return otherwise;
		}
	}

	private int ofResilience4j(MergedAnnotation<?> annotation) {
		String instance = "resilience4j.retry.instances." + annotation.getString("name");
		String config = this.binder.bind(instance + ".base-config", String.class).orElse("default");
		return this.binder.bind(instance + ".max-attempts", Integer.class)
			.orElseGet(() -> this.binder.bind("resilience4j.retry.configs." + config + ".max-attempts", Integer.class)
				.orElse(RESILIENCE4J_DEFAULT));
	}

	/** How often an annotated method runs at most. */
	@FunctionalInterface
	private interface Tries {

		int of(MergedAnnotation<?> annotation);

	}

}
