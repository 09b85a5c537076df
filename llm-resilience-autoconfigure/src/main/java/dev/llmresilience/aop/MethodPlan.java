package dev.llmresilience.aop;

import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.llmresilience.engine.CallPlan;
import dev.llmresilience.engine.RecoveryDriver;
import org.jspecify.annotations.Nullable;

/**
 * What a protected method's annotation comes to, resolved once. Thread-safe.
 *
 * @param method the method, for messages
 * @param calls the provider entries that its calls are made under
 * @param shape how its calls go
 * @param fallback what answers when one has failed for good, or {@code null}
 * @param key what gives its calls guards of their own, or {@code null}
 * @param deduplicate what calls are equal by that share one, or {@code null}
 * @param tokens what estimates their tokens, or {@code null}
 * @param recovery what runs the method in place of all that, or {@code null}
 * @param transactionSeen whether a call within an open transaction has been warned of
 */
record MethodPlan(Method method, CallPlan calls, CallShape shape, @Nullable FallbackMethod fallback,
		@Nullable CallKey key, @Nullable CallKey deduplicate, @Nullable CallTokens tokens,
		@Nullable RecoveryDriver recovery, AtomicBoolean transactionSeen) {

}
