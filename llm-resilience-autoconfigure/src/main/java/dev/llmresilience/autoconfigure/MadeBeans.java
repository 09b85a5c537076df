package dev.llmresilience.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Map;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.jspecify.annotations.Nullable;

/**
 * Looks at beans without making any.
 */
final class MadeBeans {

	private MadeBeans() {
	}

	/**
	 * The singletons of a type that have been made.
	 * @param <T> the type
	 * @param beans all beans
	 * @param type the type
	 * @return the singletons by name
	 */
	static <T> Map<String, T> of(ConfigurableListableBeanFactory beans, Class<T> type) {
		Map<String, T> made = new LinkedHashMap<>();
		for (String name : beans.getBeanNamesForType(type, false, false)) {
			Object bean = beans.getSingleton(name);
			if (type.isInstance(bean)) {
				made.put(name, type.cast(bean));
			}
		}
		return made;
	}

	/**
	 * The name of the bean whose factory method makes another.
	 * @param beans all beans
	 * @param name the name of the bean that is made
	 * @return the name, which is its class for an auto-configuration, or {@code null}
	 */
	static @Nullable String maker(ConfigurableListableBeanFactory beans, String name) {
		return beans.containsBeanDefinition(name) ? beans.getMergedBeanDefinition(name).getFactoryBeanName() : null;
	}

}
