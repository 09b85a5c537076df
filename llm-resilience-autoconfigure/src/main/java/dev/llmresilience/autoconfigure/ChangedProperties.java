package dev.llmresilience.autoconfigure;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;

import dev.llmresilience.aop.MethodPlans;
import dev.llmresilience.engine.ProviderSettings;
import dev.llmresilience.engine.Providers;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.IgnoreTopLevelConverterNotFoundBindHandler;
import org.springframework.core.env.Environment;

/**
 * Lets properties that have changed while the application runs take effect: all of them,
 * or, if one cannot work, none. Either is one line in the log. Thread-safe.
 */
final class ChangedProperties {

	private static final Log logger = LogFactory.getLog(ChangedProperties.class);

	private static final String PROVIDERS = "llmresilienceproviders";

	private final Environment environment;

	private final Providers providers;

	private final ObjectProvider<MethodPlans> plans;

	/** So that of two changes the later one holds as a whole. */
	private final ReentrantLock lock = new ReentrantLock();

	ChangedProperties(Environment environment, Providers providers, ObjectProvider<MethodPlans> plans) {
		this.environment = environment;
		this.providers = providers;
		this.plans = plans;
	}

	/**
	 * Whether a property is one of a provider entry, however its source spells it.
	 * @param name the name of the property
	 * @return whether it is
	 */
	static boolean isOfProvider(String name) {
		return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "").startsWith(PROVIDERS);
	}

	/**
	 * Reads the properties again and lets the entries follow.
	 */
	void apply() {
		this.lock.lock();
		try {
			applyLocked();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void applyLocked() {
		List<ProviderSettings> settings;
		try {
			settings = read();
		}
		catch (InvalidPropertyException ex) {
			refuse(ex.getMessage() + ". " + ex.action());
			return;
		}
		catch (BindException ex) {
			refuse(BindFailureAnalyzer.describe(ex, this.environment));
			return;
		}
		List<String> later = this.providers.configure(settings);
		this.plans.ifAvailable(MethodPlans::forget);
		if (later.isEmpty()) {
			logger.info("Changed properties of providers have taken effect.");
		}
		else {
			logger.warn("Changed properties of providers have taken effect, but for " + later
					+ ", which do with the next start.");
		}
	}

	private List<ProviderSettings> read() {
		new PropertyNames().check(this.environment);
		BindHandler handler = new EmptyGroups().apply(new IgnoreTopLevelConverterNotFoundBindHandler());
		LlmResilienceProperties properties = Binder.get(this.environment)
			.bindOrCreate("llm.resilience", Bindable.of(LlmResilienceProperties.class), handler);
		return ProviderSettingsFactory.create(ProviderNames.spelled(properties.providers(), this.environment));
	}

	private static void refuse(String reason) {
		logger.error("Changed properties of providers are refused, and the values from before still hold: " + reason);
	}

}
