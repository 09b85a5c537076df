package dev.llmresilience.aop;

import java.lang.reflect.Method;

import dev.llmresilience.engine.Provider;

/**
 * A method of a bean whose calls are protected. Immutable.
 *
 * @param method the method that runs
 * @param type the class that it runs on
 * @param provider whose guards its calls are under
 * @param maxAttempts the most attempts of a call, over both ladders, that its annotation
 * allows; 0 where that is left to the provider entry
 * @param blocking whether the thread that calls it waits for its model
 */
public record ProtectedMethod(Method method, Class<?> type, Provider provider, int maxAttempts, boolean blocking) {

}
