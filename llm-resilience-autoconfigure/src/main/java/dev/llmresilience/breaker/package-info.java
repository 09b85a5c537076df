/**
 * The circuit breaker and the quota latch, each usable on its own.
 */
@NullMarked
package dev.llmresilience.breaker;

import org.jspecify.annotations.NullMarked;
