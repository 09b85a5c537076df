package dev.llmresilience.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;

/**
 * Finds where a property was written.
 */
final class Origins {

	private Origins() {
	}

	/**
	 * Finds a property, or else the first one below it.
	 * @param environment where to look
	 * @param name the name of the property or of a group
	 * @return the property that wins, or {@code null} if there is none
	 */
	static @Nullable ConfigurationProperty find(Environment environment, ConfigurationPropertyName name) {
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
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
