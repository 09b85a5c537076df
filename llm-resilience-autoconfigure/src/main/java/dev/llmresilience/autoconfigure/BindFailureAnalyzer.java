package dev.llmresilience.autoconfigure;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

/**
 * Says what is allowed where a value of this library's properties could not even be read,
 * which Spring Boot's own analyzer does not know.
 */
final class BindFailureAnalyzer extends AbstractFailureAnalyzer<BindException> implements Ordered {

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("llm.resilience");

	private final Environment environment;

	BindFailureAnalyzer(Environment environment) {
		this.environment = environment;
	}

	@Override
	public int getOrder() {
		return 0;
	}

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException cause) {
		if (!PREFIX.isAncestorOf(cause.getName())) {
			return null;
		}
		ConfigurationProperty property = (cause.getProperty() != null) ? cause.getProperty()
				: Origins.find(this.environment, cause.getName());
		if (property == null) {
			return null;
		}
		StringBuilder text = new StringBuilder("A property of llm.resilience cannot be read:\n\n");
		text.append("    Property: ").append(property.getName()).append('\n');
		text.append("    Value: \"").append(property.getValue()).append("\"\n");
		if (property.getOrigin() != null) {
			text.append("    Origin: ").append(property.getOrigin()).append('\n');
		}
		Class<?> type = cause.getTarget().getType().resolve(Object.class);
		text.append("    Reason: must be ").append(allowed(type));
		return new FailureAnalysis(text.toString(),
				"Set a value that is allowed, or leave the property out to inherit it.", cause);
	}

	/**
	 * Says in a sentence what cannot be read.
	 * @param failure the failure
	 * @param environment where the property was read
	 * @return property, value and what is allowed
	 */
	static String describe(BindException failure, Environment environment) {
		ConfigurationProperty property = (failure.getProperty() != null) ? failure.getProperty()
				: Origins.find(environment, failure.getName());
		return ((property != null) ? property.getName() + " = " + property.getValue() : failure.getName())
				+ ": must be " + allowed(failure.getTarget().getType().resolve(Object.class)) + ".";
	}

	private static String allowed(Class<?> type) {
		if (type == Duration.class) {
			return "a duration: a number and ns, us, ms, s, m, h or d, such as 500ms, 30s or 5m";
		}
		if (type.isEnum()) {
			return "one of " + Arrays.stream(type.getEnumConstants())
				.map((constant) -> ((Enum<?>) constant).name().toLowerCase(Locale.ROOT).replace('_', '-'))
				.toList();
		}
		if (type == Boolean.class || type == boolean.class) {
			return "true or false";
		}
		if (type == Integer.class || type == int.class || type == Long.class) {
			return "a whole number";
		}
		if (type.isRecord() || type == Map.class) {
			return "a group of properties, each with a name of its own below this one";
		}
		return (type == Double.class) ? "a number" : "a value of type " + type.getSimpleName();
	}

}
