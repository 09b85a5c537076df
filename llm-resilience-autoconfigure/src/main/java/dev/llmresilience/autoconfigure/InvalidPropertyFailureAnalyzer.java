package dev.llmresilience.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
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
		ConfigurationProperty property = find(ConfigurationPropertyName.adapt(cause.property(), '.'));
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

	private @Nullable ConfigurationProperty find(ConfigurationPropertyName name) {
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(this.environment)) {
			ConfigurationProperty property = source.getConfigurationProperty(name);
			if (property == null && source instanceof IterableConfigurationPropertySource iterable) {
				property = iterable.stream()
					.filter(name::isAncestorOf)
					.findFirst()
					.map(source::getConfigurationProperty)
					.orElse(null);
			}
			if (property != null) {
				return property;
			}
		}
		return null;
	}

}
