/**
 * Actuator endpoints: they show, and steer only by their write operations.
 */
@NullMarked
package dev.llmresilience.actuate;

import org.jspecify.annotations.NullMarked;
