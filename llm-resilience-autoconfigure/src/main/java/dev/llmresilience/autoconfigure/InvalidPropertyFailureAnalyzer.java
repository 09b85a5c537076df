package dev.llmresilience.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;

/**
 * Says which property has a value that cannot work, where it is set, and what is allowed.
 */
final class InvalidPropertyFailureAnalyzer extends AbstractFailureAnalyzer<InvalidPropertyException> {

	private static final String PROVIDERS = ProviderNames.PROVIDERS.toString();

	private final Environment environment;

	InvalidPropertyFailureAnalyzer(Environment environment) {
		this.environment = environment;
	}

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidPropertyException cause) {
		StringBuilder text = new StringBuilder("A property of llm.resilience cannot work:\n\n");
		ConfigurationProperty property = find(cause.property());
		text.append("    Property: ").append(cause.property()).append('\n');
		if (cause.value() != null) {
			// As it was written, not as it was read: -5s and not PT-5S.
			text.append("    Value: \"")
				.append((property != null) ? property.getValue() : cause.value())
				.append("\"\n");
		}
		if (property != null && property.getOrigin() != null) {
			text.append("    Origin: ").append(property.getOrigin()).append('\n');
		}
		text.append("    Reason: ").append(cause.reason());
		return new FailureAnalysis(text.toString(), cause.action(), cause);
	}

	private @Nullable ConfigurationProperty find(String name) {
		ConfigurationProperty property = Origins.find(this.environment, ConfigurationPropertyName.adapt(name, '.'));
		String entry = name.startsWith(PROVIDERS + ".") ? name.substring(PROVIDERS.length() + 1) : "";
		if (property == null && !entry.isEmpty()) {
			// Perhaps it was written in brackets, as names with a dot can be.
			property = Origins.find(this.environment,
					ConfigurationPropertyName.of(PROVIDERS).append("[" + entry + "]"));
		}
		if (property == null && name.endsWith("]")) {
			// Perhaps the whole list was written as one value.
			property = Origins.find(this.environment,
					ConfigurationPropertyName.adapt(name.substring(0, name.lastIndexOf('[')), '.'));
		}
		return property;
	}

}
