package dev.llmresilience.autoconfigure;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

import dev.llmresilience.aop.LlmRetryMethods;
import dev.llmresilience.aop.ProtectedMethod;
import dev.llmresilience.autoconfigure.LlmResilienceProperties.Layers;
import dev.llmresilience.autoconfigure.RetryLayerFinder.Finding;
import dev.llmresilience.engine.Provider;
import dev.llmresilience.engine.ProviderSettings;
import dev.llmresilience.engine.Providers;
import dev.llmresilience.failure.ProviderType;
import dev.llmresilience.policy.RetryPolicy;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * The other layers that retry protected calls, looked for once all singletons are there.
 * Each is one line in the log, because what they do multiplies: four attempts over a
 * client that tries each three times are twelve requests. Thread-safe.
 */
public final class RetryLayers implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(RetryLayers.class);

	private final Layers layers;

	private final Providers providers;

	private final LlmRetryMethods methods;

	private final List<RetryLayerFinder> finders;

	private final DeafClients deaf;

	private volatile List<RetryLayer> found = List.of();

	RetryLayers(Layers layers, Providers providers, LlmRetryMethods methods, List<RetryLayerFinder> finders,
			DeafClients deaf) {
		this.layers = layers;
		this.providers = providers;
		this.methods = methods;
		this.finders = finders;
		this.deaf = deaf;
	}

	/**
	 * The layers that were found.
	 * @return the layers; none before the start is complete, and none where they are to
	 * be ignored
	 */
	public List<RetryLayer> found() {
		return this.found;
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (this.layers == Layers.IGNORE) {
			return;
		}
		// Which providers are used is only known once all methods have been resolved.
		List<ProtectedMethod> methods = this.methods.all();
		List<Finding> findings = this.finders.stream().flatMap((finder) -> find(finder).stream()).toList();
		List<RetryLayer> found = new ArrayList<>();
		for (Finding finding : findings) {
			RetryLayer layer = layer(finding);
			if (layer != null) {
				found.add(layer);
			}
		}
		this.found = List.copyOf(found);
		this.deaf.warn(findings, methods, (finding) -> served(finding.types()));
	}

	/** A library that is not as expected must not keep an application from starting. */
	private static Collection<Finding> find(RetryLayerFinder finder) {
		try {
			return finder.find();
		}
		catch (RuntimeException | LinkageError ex) {
			logger.warn("Whether calls are retried by others cannot be seen by " + finder.getClass().getSimpleName()
					+ ": " + ex.getClass().getName());
			return List.of();
		}
	}

	private @Nullable RetryLayer layer(Finding finding) {
		Provider provider = (finding.method() != null) ? finding.method().provider() : provider(finding.types());
		if (finding.tries() <= 1 || provider == null) {
			return null;
		}
		int own = (finding.method() != null) ? finding.method().maxAttempts() : 0;
		RetryPolicy policy = provider.settings().policy();
		int attempts = (own > 0) ? own : attempts(policy);
		boolean counted = own > 0 || !policy.retries() || policy.rateLimitMaxElapsed() == null;
		RetryLayer layer = new RetryLayer(finding.kind(), finding.name(), finding.tries(), provider.name(),
				(long) attempts * finding.tries());
		logger.warn("Retries multiply: " + finding.what() + " makes up to " + layer.tries()
				+ " tries of each attempt, so one call of '" + layer.provider() + "' can become "
				+ (counted ? "" : "more than ") + layer.requests() + " requests (" + attempts + " x " + layer.tries()
				+ "). " + finding.remedy() + ((finding.taken() && this.layers == Layers.WARN)
						? ", or set llm.resilience.layers=take-over." : "."));
		return layer;
	}

	/** The entry with the most attempts. */
	private @Nullable Provider provider(List<Set<ProviderType>> types) {
		return served(types).stream()
			.max(Comparator.comparingInt((candidate) -> attempts(candidate.settings().policy())))
			.orElse(null);
	}

	/**
	 * The entries whose calls a layer is made for, or else those that it may serve too.
	 */
	private List<Provider> served(List<Set<ProviderType>> types) {
		List<Provider> candidates = new ArrayList<>(this.providers.all());
		candidates.removeIf((candidate) -> candidate.name().equals(ProviderSettings.DEFAULT_NAME) && !candidate.isUsed()
				&& this.providers.all().size() > 1);
		return types.stream()
			.map((preferred) -> candidates.stream()
				.filter((candidate) -> preferred.contains(candidate.settings().type()))
				.toList())
			.filter((found) -> !found.isEmpty())
			.findFirst()
			.orElse(List.of());
	}

	private static int attempts(RetryPolicy policy) {
		boolean counted = policy.retries() && policy.rateLimitMaxElapsed() == null;
		return policy.maxAttempts() + (counted ? policy.rateLimitRetries() : 0);
	}

}
