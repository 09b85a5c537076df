package dev.llmresilience.autoconfigure;

import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import dev.llmresilience.autoconfigure.RetryLayer.Kind;
import dev.llmresilience.failure.ProviderType;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.model.Model;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.core.retry.RetryTemplate;
import org.springframework.util.backoff.BackOffExecution;

/**
 * What Spring AI's properties let its models retry. Tells by what makes a model which of
 * them holds for it, so it need not have been made.
 */
final class SpringAiLayers implements RetryLayerFinder {

	/** More retries than this are not counted. */
	private static final int ENDLESS = 1000;

	private final ConfigurableListableBeanFactory beans;

	private final Binder binder;

	SpringAiLayers(ConfigurableListableBeanFactory beans, Environment environment) {
		this.beans = beans;
		this.binder = Binder.get(environment);
	}

	/** Models that share a property are one finding. */
	@Override
	public Collection<Finding> find() {
		Map<List<?>, Finding> found = new LinkedHashMap<>();
		for (String name : this.beans.getBeanNamesForType(Model.class, true, false)) {
			Finding finding = find(name);
			if (finding != null) {
				found.putIfAbsent(List.of(finding.name(), finding.types()), finding);
			}
		}
		return found.values();
	}

	private @Nullable Finding find(String name) {
		String maker = MadeBeans.maker(this.beans, name);
		if (SpringAiProperties.ANTHROPIC_MODEL.equals(maker)) {
			return ofSdk("Anthropic", SpringAiProperties.ANTHROPIC,
					get(SpringAiProperties.ANTHROPIC, SpringAiProperties.ANTHROPIC_DEFAULT), Finding.ANTHROPIC);
		}
		String property = (maker != null) ? SpringAiProperties.OPENAI_MODELS.get(maker) : null;
		if (property != null) {
			return ofOpenAi(property);
		}
		Class<?> type = this.beans.getType(name, false);
		return (type != null && usesTemplate(type)) ? ofTemplate(type) : null;
	}

	private Finding ofOpenAi(String property) {
		int own = get(property, SpringAiProperties.OPENAI_DEFAULT);
		return (own != SpringAiProperties.OPENAI_DEFAULT) ? ofSdk("OpenAI", property, own, Finding.OPENAI)
				: ofSdk("OpenAI", SpringAiProperties.OPENAI,
						get(SpringAiProperties.OPENAI, SpringAiProperties.OPENAI_DEFAULT), Finding.OPENAI);
	}

	private static Finding ofSdk(String vendor, String property, int retries, List<Set<ProviderType>> types) {
		return new Finding(Kind.SDK, property, vendor + "'s SDK below Spring AI (" + property + ")", retries + 1, types,
				null, "Set " + property + "=0", true, true);
	}

	private static boolean usesTemplate(Class<?> type) {
		return Arrays.stream(type.getDeclaredFields()).anyMatch((field) -> field.getType() == RetryTemplate.class);
	}

	/**
	 * Where there is no template bean, the model was made by hand with a template that
	 * nobody can see.
	 */
	private @Nullable Finding ofTemplate(Class<?> type) {
		Finding worst = null;
		for (String name : this.beans.getBeanNamesForType(RetryTemplate.class, true, false)) {
			RetryTemplate template = MadeBeans.of(this.beans, RetryTemplate.class).get(name);
			int retries = (template != null) ? retries(template)
					: get(SpringAiProperties.RETRY, SpringAiProperties.RETRY_DEFAULT);
			if (worst == null || retries >= worst.tries()) {
				worst = ofTemplate(name, retries, types(type));
			}
		}
		return worst;
	}

	private Finding ofTemplate(String name, int retries, List<Set<ProviderType>> types) {
		boolean configured = SpringAiProperties.RETRY_TEMPLATE.equals(MadeBeans.maker(this.beans, name));
		String property = SpringAiProperties.RETRY;
		return new Finding(Kind.SPRING_AI, configured ? property : name,
				"Spring AI's retry template (" + (configured ? property : "the bean '" + name + "'") + ")", retries + 1,
				types, null,
				configured ? "Set " + property + "=0" : "Write new RetryTemplate(RetryPolicy.withMaxRetries(0))",
				configured, false);
	}

	private static int retries(RetryTemplate template) {
		BackOffExecution waits = template.getRetryPolicy().getBackOff().start();
		int retries = 0;
		while (retries < ENDLESS && waits.nextBackOff() != BackOffExecution.STOP) {
			retries++;
		}
		return retries;
	}

	/** The package of a model names its provider. */
	private static List<Set<ProviderType>> types(Class<?> model) {
		Set<ProviderType> own = EnumSet.noneOf(ProviderType.class);
		for (ProviderType type : ProviderType.values()) {
			if (model.getPackageName().contains("." + type.name().toLowerCase(Locale.ROOT))) {
				own.add(type);
			}
		}
		return List.of(own, EnumSet.of(ProviderType.GENERIC));
	}

	private int get(String property, int built) {
		BindResult<Integer> set = this.binder.bind(property, Integer.class);
		return set.isBound() ? set.get() : built;
	}

}
