/**
 * The shared allowance of retries.
 */
@NullMarked
package dev.llmresilience.budget;

import org.jspecify.annotations.NullMarked;
