package dev.llmresilience.autoconfigure;

import java.lang.reflect.Method;
import java.util.Set;

import dev.llmresilience.LlmRetry;
import dev.llmresilience.engine.Providers;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.boot.context.properties.bind.BindableRuntimeHintsRegistrar;
import org.springframework.util.ReflectionUtils;

/**
 * What a native image has to keep of the library itself, because it is only reached by
 * reflection. Spring finds the rest by itself: beans, endpoints and what they answer.
 */
final class LlmResilienceRuntimeHints implements RuntimeHintsRegistrar {

	/** The methods of {@link Providers} that make beans of guards. */
	private static final Set<String> GUARDS = Set.of("limiter", "budget", "breaker");

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.reflection().registerType(LlmRetry.class, MemberCategory.INVOKE_DECLARED_METHODS);
		// What a merged annotation is made as.
		hints.proxies().registerJdkProxy(LlmRetry.class);
		for (Method method : ReflectionUtils.getDeclaredMethods(Providers.class)) {
			if (GUARDS.contains(method.getName())) {
				hints.reflection().registerMethod(method, ExecutableMode.INVOKE);
			}
		}
		// Bound by hand, before there are beans and whenever properties have changed.
		BindableRuntimeHintsRegistrar.forTypes(LlmResilienceProperties.class).registerHints(hints, classLoader);
	}

}
