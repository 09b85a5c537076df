package dev.llmresilience.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;

/**
 * Says which property has a value that cannot work, where it is set, and what is allowed.
 */
final class InvalidPropertyFailureAnalyzer extends AbstractFailureAnalyzer<InvalidPropertyException> {

	private final Environment environment;

	InvalidPropertyFailureAnalyzer(Environment environment) {
		this.environment = environment;
	}

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidPropertyException cause) {
		StringBuilder text = new StringBuilder("A property of llm.resilience cannot work:\n\n");
		text.append("    Property: ").append(cause.property()).append('\n');
		if (cause.value() != null) {
			text.append("    Value: \"").append(cause.value()).append("\"\n");
		}
		ConfigurationProperty property = find(cause.property());
		if (property != null && property.getOrigin() != null) {
			text.append("    Origin: ").append(property.getOrigin()).append('\n');
		}
		text.append("    Reason: ").append(cause.reason());
		return new FailureAnalysis(text.toString(), cause.action(), cause);
	}

	private @Nullable ConfigurationProperty find(String name) {
		if (!ConfigurationPropertyName.isValid(name)) {
			return null;
		}
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(this.environment)) {
			ConfigurationProperty property = source.getConfigurationProperty(ConfigurationPropertyName.of(name));
			if (property != null) {
				return property;
			}
		}
		return null;
	}

}
