package dev.llmresilience.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import dev.llmresilience.autoconfigure.LlmResilienceProperties.ProviderEntry;

import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;

/**
 * The names of provider entries.
 */
final class ProviderNames {

	static final ConfigurationPropertyName PROVIDERS = ConfigurationPropertyName.of("llm.resilience.providers");

	private ProviderNames() {
	}

	/**
	 * Leaves out the entries that are only another's name as an environment variable has
	 * to spell it: {@code LLM_RESILIENCE_PROVIDERS_AZUREOPENAI_...} overrides properties
	 * of {@code azure-openai}, and the binder shows a second entry {@code azureopenai}
	 * for it.
	 * @param entries the entries as bound
	 * @param environment where they come from
	 * @return the entries without such doubles
	 */
	static Map<String, ProviderEntry> spelled(Map<String, ProviderEntry> entries, Environment environment) {
		Set<String> spelled = new TreeSet<>();
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
			if (source instanceof IterableConfigurationPropertySource iterable && !isEnvironmentVariables(source)) {
				iterable.stream()
					.filter(PROVIDERS::isAncestorOf)
					.forEach((name) -> spelled.add(name.getElement(PROVIDERS.getNumberOfElements(), Form.ORIGINAL)));
			}
		}
		Map<String, ProviderEntry> kept = new LinkedHashMap<>(entries);
		kept.keySet()
			.removeIf((name) -> !spelled.contains(name)
					&& spelled.stream().anyMatch((other) -> uniform(other).equals(uniform(name))));
		return kept;
	}

	/**
	 * The name as the binder compares it.
	 * @param name a name
	 * @return the name without case, hyphens and underscores
	 */
	static String uniform(String name) {
		return name.toLowerCase(Locale.ROOT).replaceAll("[-_]", "");
	}

	/**
	 * Whether names from a source have lost their hyphens, and with them their meaning.
	 * @param source the source
	 * @return whether it holds environment variables
	 */
	static boolean isEnvironmentVariables(ConfigurationPropertySource source) {
		return source.getUnderlyingSource() instanceof PropertySource<?> underlying
				&& underlying.getName().endsWith(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME);
	}

}
