/**
 * What an operator sees of the sample application.
 */
@NullMarked
package dev.llmresilience.sample.monitoring;

import org.jspecify.annotations.NullMarked;
