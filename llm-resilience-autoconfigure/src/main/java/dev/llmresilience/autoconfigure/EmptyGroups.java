package dev.llmresilience.autoconfigure;

import java.util.Map;

import dev.llmresilience.autoconfigure.LlmResilienceProperties.Aspect;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Breaker;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Budget;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Limiter;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.ProviderEntry;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Quota;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Retry;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Web;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;

/**
 * Takes a group of properties that is named but empty for one that sets nothing. In YAML
 * {@code anthropic:} is how to say that a provider exists and needs nothing of its own,
 * and {@code limiter:} is what remains when all below it is commented out; to the binder
 * both are an empty text, which it cannot convert. (Of <code>anthropic: {}</code> it sees
 * nothing at all.)
 */
final class EmptyGroups implements ConfigurationPropertiesBindHandlerAdvisor {

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("llm.resilience");

	private static final Map<Class<?>, Object> NOTHING = Map.of(ProviderEntry.class, ProviderEntry.NOTHING, Retry.class,
			Retry.NOTHING, Budget.class, Budget.NOTHING, Limiter.class, Limiter.NOTHING, Breaker.class, Breaker.NOTHING,
			Quota.class, Quota.NOTHING, Aspect.class, new Aspect(Aspect.DEFAULT_ORDER), Web.class, new Web(false),
			Map.class, Map.of());

	@Override
	public BindHandler apply(BindHandler handler) {
		return new Handler(handler);
	}

	private static final class Handler extends AbstractBindHandler {

		Handler(BindHandler parent) {
			super(parent);
		}

		/**
		 * Spring Boot takes what carries {@code @ConfigurationProperties} for a bean and
		 * does not look at its own value, where that of an entry may be empty or wrong.
		 */
		@Override
		public <T> @Nullable Bindable<T> onStart(ConfigurationPropertyName name, Bindable<T> target,
				BindContext context) {
			Bindable<T> started = super.onStart(name, target, context);
			return PREFIX.isAncestorOf(name) ? target : started;
		}

		@Override
		public @Nullable Object onFailure(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				Exception error) throws Exception {
			if (PREFIX.isAncestorOf(name) && isEmpty(name, context)) {
				Object nothing = NOTHING.get(target.getType().resolve(Object.class));
				if (nothing != null) {
					return nothing;
				}
			}
			return super.onFailure(name, target, context, error);
		}

		private static boolean isEmpty(ConfigurationPropertyName name, BindContext context) {
			for (ConfigurationPropertySource source : context.getSources()) {
				ConfigurationProperty property = source.getConfigurationProperty(name);
				if (property != null) {
					return property.getValue() instanceof CharSequence text && text.toString().isBlank();
				}
			}
			return false;
		}

	}

}
