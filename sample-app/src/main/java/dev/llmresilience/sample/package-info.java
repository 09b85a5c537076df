/**
 * The sample application.
 */
@NullMarked
package dev.llmresilience.sample;

import org.jspecify.annotations.NullMarked;
