package dev.llmresilience.autoconfigure;

import java.lang.reflect.RecordComponent;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;

/**
 * Finds what the binder passes over in silence: properties that do not exist, and
 * provider names with a dot, which end up as another entry's properties.
 */
final class PropertyNames {

	private static final Log logger = LogFactory.getLog(PropertyNames.class);

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("llm.resilience");

	private static final String PROVIDERS = "providers";

	private static final Pattern INDEX = Pattern.compile("\\[\\d+]$");

	private final Set<String> top = new LinkedHashSet<>();

	private final Set<String> ofProvider = new LinkedHashSet<>();

	PropertyNames() {
		collect(LlmResilienceProperties.class, "", this.top);
		this.top.remove(PROVIDERS);
		collect(LlmResilienceProperties.ProviderEntry.class, "", this.ofProvider);
	}

	private static void collect(Class<?> type, String prefix, Set<String> names) {
		for (RecordComponent component : type.getRecordComponents()) {
			String name = prefix + DataObjectPropertyName.toDashedForm(component.getName());
			if (component.getType().isRecord()) {
				collect(component.getType(), name + ".", names);
			}
			else {
				names.add(name);
			}
		}
	}

	/**
	 * Looks through all properties under the prefix.
	 * @param environment where they are
	 * @throws InvalidPropertyException if a provider name holds a dot
	 */
	void check(Environment environment) {
		Map<String, String> unknown = new LinkedHashMap<>();
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
			if (source instanceof IterableConfigurationPropertySource iterable
					&& !ProviderNames.isEnvironmentVariables(source)) {
				iterable.stream().filter(PREFIX::isAncestorOf).forEach((name) -> check(name, unknown));
			}
		}
		unknown.forEach((name, nearest) -> logger
			.warn("Unknown property '" + name + "' is ignored: did you mean '" + nearest + "'?"));
	}

	private void check(ConfigurationPropertyName name, Map<String, String> unknown) {
		int from = PREFIX.getNumberOfElements();
		if (!name.getElement(from, Form.UNIFORM).equals(PROVIDERS)) {
			Set<String> known = new LinkedHashSet<>(this.top);
			if (name.getNumberOfElements() > from + 1) {
				known.add(PROVIDERS + "." + tail(name, from + 1));
			}
			unknown(name, tail(name, from), known, PREFIX.toString(), unknown);
			return;
		}
		if (name.getNumberOfElements() <= from + 2) {
			return;
		}
		String property = tail(name, from + 2);
		if (isGroup(name.getElement(from + 2, Form.UNIFORM), this.ofProvider)) {
			unknown(name, property, this.ofProvider, name.chop(from + 2).toString(), unknown);
			return;
		}
		for (int i = from + 3; i < name.getNumberOfElements(); i++) {
			if (isGroup(name.getElement(i, Form.UNIFORM), this.ofProvider) || isKnown(tail(name, i), this.ofProvider)) {
				throw dotted(name, from + 1, i);
			}
		}
		unknown(name, property, this.ofProvider, name.chop(from + 2).toString(), unknown);
	}

	private static InvalidPropertyException dotted(ConfigurationPropertyName name, int from, int to) {
		StringBuilder entry = new StringBuilder();
		for (int i = from; i < to; i++) {
			entry.append((i > from) ? "." : "").append(name.getElement(i, Form.ORIGINAL));
		}
		return new InvalidPropertyException(name.toString(), null,
				"the provider name '" + entry + "' holds a dot, which separates the parts of a property name",
				"Rename the entry to a short kebab-case word, for example '"
						+ PropertyChecks.suggestion(entry.toString())
						+ "'. The name of the model belongs where the model is configured.");
	}

	private static void unknown(ConfigurationPropertyName name, String property, Set<String> known, String parent,
			Map<String, String> unknown) {
		if (!isKnown(property, known)) {
			unknown.put(name.toString(), parent + "." + nearest(property, known));
		}
	}

	private static boolean isKnown(String property, Set<String> known) {
		String uniform = uniform(INDEX.matcher(property).replaceFirst(""));
		return known.stream()
			.map(PropertyNames::uniform)
			.anyMatch((candidate) -> candidate.equals(uniform) || candidate.startsWith(uniform + "."));
	}

	private static boolean isGroup(String element, Set<String> known) {
		return known.stream().map(PropertyNames::uniform).anyMatch((candidate) -> candidate.startsWith(element + "."));
	}

	private static String uniform(String property) {
		return property.replace("-", "").toLowerCase(Locale.ROOT);
	}

	private static String tail(ConfigurationPropertyName name, int from) {
		return name.subName(from).toString();
	}

	private static @Nullable String nearest(String property, Set<String> known) {
		return known.stream().min(Comparator.comparingInt((candidate) -> distance(property, candidate))).orElse(null);
	}

	/** The edit distance of Levenshtein. */
	private static int distance(String a, String b) {
		int[] row = new int[b.length() + 1];
		for (int j = 0; j <= b.length(); j++) {
			row[j] = j;
		}
		for (int i = 1; i <= a.length(); i++) {
			int diagonal = row[0];
			row[0] = i;
			for (int j = 1; j <= b.length(); j++) {
				int substitution = diagonal + ((a.charAt(i - 1) == b.charAt(j - 1)) ? 0 : 1);
				diagonal = row[j];
				row[j] = Math.min(substitution, Math.min(row[j], row[j - 1]) + 1);
			}
		}
		return row[b.length()];
	}

}
