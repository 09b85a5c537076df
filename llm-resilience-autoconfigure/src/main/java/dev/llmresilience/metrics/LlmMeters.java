package dev.llmresilience.metrics;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import dev.llmresilience.engine.CallMonitor;
import dev.llmresilience.engine.Provider;
import io.micrometer.core.instrument.MeterRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The meters of all provider entries that calls are made under, made when the first call
 * of an entry is. Their tags have values from fixed sets only: the names of the entries,
 * and the constants of enumerations. Thread-safe.
 */
public final class LlmMeters implements CallMonitor.Factory, AutoCloseable {

	private static final Log logger = LogFactory.getLog(LlmMeters.class);

	private final Supplier<@Nullable MeterRegistry> registry;

	private final List<ProviderMeters> made = new CopyOnWriteArrayList<>();

	/**
	 * Creates the meters.
	 * @param registry where they are registered, or {@code null} for nowhere; asked with
	 * the first call, because a registry may be made later than what makes calls
	 */
	public LlmMeters(Supplier<@Nullable MeterRegistry> registry) {
		this.registry = registry;
	}

	@Override
	public CallMonitor of(Provider provider) {
		MeterRegistry registry = this.registry.get();
		if (registry == null) {
			return CallMonitor.NONE;
		}
		try {
			ProviderMeters meters = new ProviderMeters(provider, registry);
			this.made.add(meters);
			return meters;
		}
		catch (RuntimeException ex) {
			// A registry that refuses a meter must not fail the call.
			logger.error("The calls of '" + provider.name() + "' are not counted: its meters cannot be registered", ex);
			return CallMonitor.NONE;
		}
	}

	/**
	 * Takes all of its meters out of the registry, which may outlive the application
	 * context.
	 */
	@Override
	public void close() {
		this.made.forEach(ProviderMeters::close);
	}

}
