package dev.llmresilience.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;

/**
 * With {@code llm.resilience.layers=take-over}, sets the retries of Spring AI, and of the
 * SDKs that it configures, to none before anything is made that reads them. Wins over all
 * other sources of properties. Does nothing where calls are not protected: nobody would
 * retry them then.
 */
final class TakeOver implements EnvironmentPostProcessor, Ordered {

	private static final String SOURCE = "llmResilienceTakeOver";

	private static final Set<String> FALSE = Set.of("false", "off", "no", "0");

	/** After application.yml and its like have been read. */
	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

	@Override
	public void postProcessEnvironment(ConfigurableEnvironment environment, SpringApplication application) {
		if (isOn(environment)) {
			environment.getPropertySources().addFirst(new MapPropertySource(SOURCE, properties()));
		}
	}

	/** What is set. */
	static Map<String, Object> properties() {
		Map<String, Object> properties = new LinkedHashMap<>();
		properties.put(SpringAiProperties.RETRY, 0);
		properties.put(SpringAiProperties.ANTHROPIC, 0);
		properties.put(SpringAiProperties.OPENAI, 0);
		SpringAiProperties.OPENAI_MODELS.values().forEach((property) -> properties.put(property, 0));
		return properties;
	}

	/**
	 * Whether the retries of others are taken over. A value that is not allowed is
	 * reported when the properties are bound, and not here.
	 * @param environment where it is set
	 * @return whether they are
	 */
	static boolean isOn(Environment environment) {
		return get(environment, "llm.resilience.layers").replaceAll("[^A-Za-z]", "").equalsIgnoreCase("takeover")
				&& !FALSE.contains(get(environment, "llm.resilience.enabled").toLowerCase(Locale.ROOT))
				&& !get(environment, "llm.resilience.mode").equalsIgnoreCase("observe");
	}

	private static String get(Environment environment, String property) {
		BindResult<String> set = Binder.get(environment).bind(property, String.class);
		return set.isBound() ? set.get() : "";
	}

}
