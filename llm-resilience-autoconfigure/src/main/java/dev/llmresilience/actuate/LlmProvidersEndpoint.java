package dev.llmresilience.actuate;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;

import dev.llmresilience.actuate.ProviderDescriptor.BudgetDescriptor;
import dev.llmresilience.actuate.ProviderDescriptor.LayerDescriptor;
import dev.llmresilience.actuate.ProviderDescriptor.LimiterDescriptor;
import dev.llmresilience.actuate.ProviderDescriptor.MethodDescriptor;
import dev.llmresilience.actuate.ProviderDescriptor.QuotaDescriptor;
import dev.llmresilience.aop.ProtectedMethod;
import dev.llmresilience.engine.Provider;
import dev.llmresilience.engine.ProviderSettings;
import dev.llmresilience.engine.Providers;
import dev.llmresilience.limiter.LimiterMode;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * Shows the provider entries: what paces, rations and stops their calls at present, and
 * which policy holds for whom. Lets an operator set the rate, clear a latch, and switch
 * retries off. Writing is off unless {@code management.endpoint.llmproviders.access} is
 * {@code unrestricted}. Thread-safe.
 */
@Endpoint(id = "llmproviders", defaultAccess = Access.READ_ONLY)
public class LlmProvidersEndpoint {

	private static final String CLEAR = "CLEAR";

	private static final String ON = "ON";

	private static final String OFF = "OFF";

	private final Providers providers;

	private final Supplier<List<ProtectedMethod>> methods;

	private final Function<String, List<LayerDescriptor>> layers;

	/**
	 * Creates the endpoint.
	 * @param providers the provider entries
	 * @param methods finds the annotated methods
	 * @param layers finds the other layers that retry the calls of an entry
	 */
	public LlmProvidersEndpoint(Providers providers, Supplier<List<ProtectedMethod>> methods,
			Function<String, List<LayerDescriptor>> layers) {
		this.providers = providers;
		this.methods = methods;
		this.layers = layers;
	}

	/**
	 * Shows all provider entries.
	 * @return them, by name
	 */
	@ReadOperation
	public ProvidersDescriptor providers() {
		List<ProtectedMethod> methods = this.methods.get();
		Map<String, ProviderDescriptor> shown = new TreeMap<>();
		for (Provider provider : this.providers.all()) {
			if (isShown(provider)) {
				shown.put(provider.name(), describe(provider, methods));
			}
		}
		return new ProvidersDescriptor(shown);
	}

	/** The entry that the others inherit from only shows where it is one itself. */
	static boolean isShown(Provider provider) {
		return provider.isUsed() || !provider.name().equals(ProviderSettings.DEFAULT_NAME);
	}

	/**
	 * Shows one provider entry.
	 * @param provider the name of the entry
	 * @return it, or {@code null} if there is none
	 */
	@ReadOperation
	public @Nullable ProviderDescriptor provider(@Selector String provider) {
		Provider found = this.providers.find(provider);
		return (found != null) ? describe(found, this.methods.get()) : null;
	}

	/**
	 * Changes any of what can be changed while running. All of it is checked before any
	 * takes effect.
	 * @param provider the name of the provider entry
	 * @param requestsPerMinute the rate of its calls, a number above 0; {@code null}
	 * leaves it
	 * @param latch {@code CLEAR} lets calls pass again that an exhausted quota shuts off;
	 * {@code null} leaves them
	 * @param retries {@code OFF} lets every call end with its first failure, {@code ON}
	 * retries again; {@code null} leaves that
	 * @return the entry as it then is, or {@code null} if there is none
	 * @throws IllegalArgumentException if a value is not allowed, or there is none
	 */
	@WriteOperation
	public @Nullable ProviderDescriptor steer(@Selector String provider, @Nullable String requestsPerMinute,
			@Nullable String latch, @Nullable String retries) {
		Provider found = this.providers.find(provider);
		if (found == null) {
			return null;
		}
		if (requestsPerMinute == null && latch == null && retries == null) {
			throw new IllegalArgumentException("one of requestsPerMinute, latch and retries must be set");
		}
		Double rate = (requestsPerMinute != null) ? rate(requestsPerMinute, found) : null;
		check("latch", latch, CLEAR);
		check("retries", retries, ON, OFF);
		if (rate != null) {
			this.providers.setRequestsPerMinute(provider, rate);
		}
		if (latch != null) {
			this.providers.clearLatches(provider);
		}
		if (retries != null) {
			this.providers.setRetries(provider, retries.equals(ON));
		}
		return describe(found, this.methods.get());
	}

	private static double rate(String text, Provider provider) {
		double rate;
		try {
			rate = Double.parseDouble(text);
		}
		catch (NumberFormatException ex) {
			rate = Double.NaN;
		}
		if (!(rate > 0) || !Double.isFinite(rate)) {
			throw refused("requestsPerMinute", text, "must be a number above 0, decimals allowed");
		}
		if (provider.limiter().settings().mode() == LimiterMode.OFF) {
			throw refused("requestsPerMinute", text, "cannot be set where limiter.mode is off");
		}
		return rate;
	}

	private static void check(String property, @Nullable String value, String... allowed) {
		if (value != null && !List.of(allowed).contains(value)) {
			throw refused(property, value, "must be " + String.join(" or ", allowed));
		}
	}

	private static IllegalArgumentException refused(String property, String value, String reason) {
		return new IllegalArgumentException(property + " = " + value + ": " + reason);
	}

	private ProviderDescriptor describe(Provider provider, List<ProtectedMethod> methods) {
		String name = provider.name();
		return new ProviderDescriptor(provider.settings().type(), provider.settings().account(),
				provider.areRetriesOn() ? ON : OFF,
				LimiterDescriptor.of(provider.limiter(), provider.settings().limiterSharedWith()),
				BudgetDescriptor.of(provider.budget()), QuotaDescriptor.of(provider),
				PolicyDescriptor.of(provider.settings()), this.providers.isCalledByProgram(name),
				methods.stream()
					.filter((method) -> method.provider() == provider)
					.map(MethodDescriptor::of)
					.sorted(Comparator.comparing(MethodDescriptor::className).thenComparing(MethodDescriptor::method))
					.toList(),
				this.layers.apply(name));
	}

	/**
	 * All provider entries.
	 *
	 * @param providers by name
	 */
	public record ProvidersDescriptor(Map<String, ProviderDescriptor> providers) implements OperationResponseBody {
	}

}
