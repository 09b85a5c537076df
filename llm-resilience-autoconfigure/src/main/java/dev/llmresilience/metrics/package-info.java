/**
 * Meters and observations: they listen, and never steer.
 */
@NullMarked
package dev.llmresilience.metrics;

import org.jspecify.annotations.NullMarked;
