/**
 * What a user's code names: the annotation, the programmatic twin, failures, reports and
 * exceptions.
 */
@NullMarked
package dev.llmresilience;

import org.jspecify.annotations.NullMarked;
