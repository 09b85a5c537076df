package dev.llmresilience.aop;

import java.lang.reflect.Method;
import java.util.List;

import dev.llmresilience.engine.CallOptions;
import dev.llmresilience.engine.Provider;
import org.jspecify.annotations.Nullable;

/**
 * A method of a bean whose calls are protected. Immutable.
 *
 * @param method the method that runs
 * @param type the class that it runs on
 * @param provider whose guards its calls are under
 * @param maxAttempts the most attempts of a call, over both ladders, that its annotation
 * allows; 0 where that is left to the provider entry
 * @param options how its calls are made: the policy of the provider entry with what the
 * annotation itself asks for
 * @param failover the names of the entries that take over, in order
 * @param recovery the name of the strategy that alone decides about its failures, or
 * {@code null} where the policy does
 * @param blocking whether the thread that calls it waits for its model
 * @param source where its annotation stands, or {@code null} where that is not known
 */
public record ProtectedMethod(Method method, Class<?> type, Provider provider, int maxAttempts, CallOptions options,
		List<String> failover, @Nullable String recovery, boolean blocking, @Nullable PolicySource source) {

}
