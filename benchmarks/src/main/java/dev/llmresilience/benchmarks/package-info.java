/**
 * Measurements beside peers, each in one run.
 */
@NullMarked
package dev.llmresilience.benchmarks;

import org.jspecify.annotations.NullMarked;
