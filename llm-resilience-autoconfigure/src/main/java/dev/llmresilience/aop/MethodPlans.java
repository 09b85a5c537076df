package dev.llmresilience.aop;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;

import dev.llmresilience.LlmRetry;
import dev.llmresilience.TokenEstimator;
import dev.llmresilience.engine.CallOptions;
import dev.llmresilience.engine.CallPlan;
import dev.llmresilience.engine.CallPlan.Target;
import dev.llmresilience.engine.Provider;
import dev.llmresilience.engine.ProviderSettings;
import dev.llmresilience.engine.Providers;
import dev.llmresilience.engine.RecoveryDriver;
import dev.llmresilience.policy.RetryPolicy;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.util.ClassUtils;

/**
 * Resolves annotations to plans, once per method and class. Thread-safe.
 */
public final class MethodPlans {

	/** Durations are counted in nanoseconds, which a long holds for 292 years. */
	private static final Duration LONGEST = Duration.ofDays(36_500);

	/** A power of two. */
	private static final int RECENT = 64;

	private final Providers providers;

	private final UnaryOperator<String> placeholders;

	private final boolean strict;

	private final @Nullable TokenEstimator estimator;

	private final CallShapes shapes;

	private final RecoveryStrategies recoveries;

	private final Map<MethodClassKey, Optional<MethodPlan>> plans = new ConcurrentHashMap<>();

	/**
	 * What was found of late, so that the usual call makes no key. A race loses an entry
	 * at worst: each is immutable.
	 */
	private volatile @Nullable Found[] recent = new @Nullable Found[RECENT];

	/**
	 * Creates it.
	 * @param providers the provider entries
	 * @param placeholders resolves the placeholders of annotation values
	 * @param strict whether an unknown provider name is an error; otherwise such calls
	 * are made under the entry {@code default}
	 * @param estimator estimates the tokens of methods that do not do so themselves, or
	 * {@code null}
	 * @param shapes knows how calls go that return a certain type
	 * @param recoveries finds what decides about methods that call no model
	 */
	public MethodPlans(Providers providers, UnaryOperator<String> placeholders, boolean strict,
			@Nullable TokenEstimator estimator, CallShapes shapes, RecoveryStrategies recoveries) {
		this.providers = providers;
		this.placeholders = placeholders;
		this.strict = strict;
		this.estimator = estimator;
		this.shapes = shapes;
		this.recoveries = recoveries;
	}

	/**
	 * Finds the plan of a method.
	 * @param method the method that was called
	 * @param targetClass the class of the object behind the proxy
	 * @return the plan, or {@code null} if the method is not protected
	 * @throws InvalidLlmRetryException if its annotation cannot work
	 */
	@Nullable MethodPlan find(Method method, Class<?> targetClass) {
		int place = System.identityHashCode(method) & (RECENT - 1);
		@Nullable Found[] all = this.recent;
		Found recent = all[place];
		if (recent != null && recent.isOf(method, targetClass)) {
			return recent.plan;
		}
		MethodPlan plan = this.plans
			.computeIfAbsent(new MethodClassKey(method, targetClass),
					(key) -> Optional.ofNullable(resolve(method, targetClass)))
			.orElse(null);
		all[place] = new Found(method, targetClass, plan);
		return plan;
	}

	/**
	 * Has every method resolved again, because the settings of the provider entries have
	 * changed. Calls under way keep what they began with.
	 */
	public void forget() {
		// Whoever has found an old plan by now writes it into the old array.
		this.plans.clear();
		this.recent = new @Nullable Found[RECENT];
	}

	/**
	 * Resolves all protected methods of a class, so that what is wrong shows at the start
	 * and not with the first call.
	 * @param targetClass the class
	 * @return the plans
	 */
	List<MethodPlan> check(Class<?> targetClass) {
		Map<Method, MethodPlan> found = MethodIntrospector.selectMethods(targetClass,
				(MethodIntrospector.MetadataLookup<MethodPlan>) (method) -> LlmRetryAnnotations.isReachable(method)
						? find(method, targetClass) : null);
		return List.copyOf(found.values());
	}

	private @Nullable MethodPlan resolve(Method method, Class<?> targetClass) {
		LlmRetry annotation = LlmRetryAnnotations.isReachable(method) ? LlmRetryAnnotations.find(method, targetClass)
				: LlmRetryAnnotations.findOn(method);
		if (annotation == null) {
			return null;
		}
		Class<?> userClass = ClassUtils.getUserClass(targetClass);
		Method specific = AopUtils.getMostSpecificMethod(method, userClass);
		Provider provider = provider(annotation, specific);
		CallOptions options = options(annotation, specific, provider);
		String fallback = annotation.fallbackMethod();
		RecoveryDriver recovery = this.recoveries.find(annotation, specific, provider, options);
		CallShape shape = shape(annotation, specific);
		CallKey deduplicate = key("deduplicate", annotation.deduplicate(), method, specific, userClass);
		if (deduplicate != null && !shape.canShare()) {
			throw new InvalidLlmRetryException(specific, "deduplicate", annotation.deduplicate(),
					"cannot share a stream of several elements", "Leave it out, or return a Mono.");
		}
		return new MethodPlan(specific, calls(annotation, specific, provider), shape,
				fallback.isEmpty() ? null : FallbackMethod.of(fallback, specific, userClass),
				key("key", annotation.key(), method, specific, userClass), deduplicate,
				tokens(annotation, method, specific, userClass), recovery, new AtomicBoolean());
	}

	/** What returns before its result must not look protected. */
	private CallShape shape(LlmRetry annotation, Method method) {
		CallShape shape = this.shapes.of(method);
		if (Suspending.is(method) && this.shapes.isBlocking(shape)) {
			throw new InvalidLlmRetryException(method, "provider", annotation.provider(),
					"cannot retry a suspending function here: nothing makes a publisher of it",
					"Add org.jetbrains.kotlinx:kotlinx-coroutines-reactor and org.jetbrains.kotlin:kotlin-reflect, "
							+ "or return a Mono or a CompletableFuture.");
		}
		return shape;
	}

	private CallPlan calls(LlmRetry annotation, Method method, Provider provider) {
		List<String> names = (annotation.failover().length > 0) ? List.of(annotation.failover())
				: provider.settings().calls().failover();
		List<Target> failover = new ArrayList<>();
		for (String name : names) {
			if (this.providers.find(name) == provider) {
				throw new InvalidLlmRetryException(method, "failover", name, "names the provider that has failed",
						"Name others, or leave it out for the failover of the provider entry.");
			}
			// An unknown name stands for the default entry, which may be there already.
			Provider other = provider("failover", name, method);
			if (other != provider && failover.stream().noneMatch((target) -> target.provider() == other)) {
				failover.add(target(annotation, method, other));
			}
		}
		return new CallPlan(method.getDeclaringClass().getName() + "." + method.getName(),
				target(annotation, method, provider), failover);
	}

	/** Whether a method's calls end when it returns. */
	boolean isBlocking(MethodPlan plan) {
		return this.shapes.isBlocking(plan.shape());
	}

	private Target target(LlmRetry annotation, Method method, Provider provider) {
		return new Target(provider, options(annotation, method, provider),
				annotation.key().isEmpty() ? null : this.providers.keyed(provider.name()));
	}

	private static @Nullable CallKey key(String attribute, String text, Method method, Method specific,
			Class<?> userClass) {
		return text.isEmpty() ? null : new CallKey(expression(attribute, text, method, specific, userClass));
	}

	private @Nullable CallTokens tokens(LlmRetry annotation, Method method, Method specific, Class<?> userClass) {
		String text = annotation.tokens();
		if (!text.isEmpty()) {
			return CallTokens.of(expression("tokens", text, method, specific, userClass));
		}
		return (this.estimator != null) ? CallTokens.of(this.estimator, specific) : null;
	}

	private static MethodExpression expression(String attribute, String text, Method method, Method specific,
			Class<?> userClass) {
		return MethodExpression.parse(specific, userClass, attribute, text,
				new MethodVariables(LlmRetryAnnotations.declarations(specific, method, userClass)));
	}

	private Provider provider(LlmRetry annotation, Method method) {
		return provider("provider", annotation.provider(), method);
	}

	private Provider provider(String attribute, String name, Method method) {
		Provider provider = this.providers.find(name);
		if (provider != null) {
			return this.providers.use(name);
		}
		if (this.strict) {
			throw new InvalidLlmRetryException(method, attribute, name,
					"names a provider that is not configured: known are " + this.providers.names(),
					"Use one of the known names, add an entry to llm.resilience.providers (a short kebab-case word, and "
							+ "at least one property below it, such as type), or set llm.resilience.strict=false to "
							+ "make such calls under 'default'.");
		}
		return this.providers.use(ProviderSettings.DEFAULT_NAME);
	}

	private CallOptions options(LlmRetry annotation, Method method, Provider provider) {
		RetryPolicy policy = provider.settings().policy();
		int most = annotation.maxAttempts();
		if (most < 0) {
			throw new InvalidLlmRetryException(method, "maxAttempts", String.valueOf(most), "is negative",
					"Use 1 or more, or 0 to inherit.");
		}
		if (most > 0) {
			policy = policy.withAttempts(most, policy.rateLimitRetries());
		}
		policy = policy.withTimeouts(duration(annotation.timeout(), "timeout", method, policy.timeout()),
				duration(annotation.attemptTimeout(), "attemptTimeout", method, policy.attemptTimeout()));
		return new CallOptions(policy, (most > 0) ? most : Integer.MAX_VALUE, annotation.idempotent(),
				annotation.priority(), List.of(annotation.retryOn()), List.of(annotation.noRetryOn()));
	}

	private Duration duration(String value, String attribute, Method method, Duration inherited) {
		if (value.isEmpty()) {
			return inherited;
		}
		String action = "Use a duration above zero such as \"500ms\", \"30s\" or \"5m\", or \"\" to inherit.";
		String resolved;
		try {
			resolved = this.placeholders.apply(value);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidLlmRetryException(method, attribute, value, "holds a placeholder that nothing resolves",
					"Set the property that it names, or give it a default such as \"${my.timeout:30s}\".");
		}
		String text = resolved.equals(value) ? "" : "resolves to \"" + resolved + "\", which ";
		Duration duration;
		try {
			duration = DurationStyle.detectAndParse(resolved);
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			throw new InvalidLlmRetryException(method, attribute, value, text + "is not a duration", action);
		}
		if (duration.isNegative() || duration.isZero()) {
			throw new InvalidLlmRetryException(method, attribute, value, text + "is not above zero", action);
		}
		if (duration.compareTo(LONGEST) > 0) {
			throw new InvalidLlmRetryException(method, attribute, value, text + "is longer than 100 years", action);
		}
		return duration;
	}

	private static final class Found {

		private final Method method;

		private final Class<?> targetClass;

		private final @Nullable MethodPlan plan;

		Found(Method method, Class<?> targetClass, @Nullable MethodPlan plan) {
			this.method = method;
			this.targetClass = targetClass;
			this.plan = plan;
		}

		/** The same objects come again with each call; to miss others costs time only. */
		boolean isOf(Object method, Object targetClass) {
			return this.method == method && this.targetClass == targetClass;
		}

	}

}
