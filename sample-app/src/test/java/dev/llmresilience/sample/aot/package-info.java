/**
 * The sample application in processes of its own.
 */
@NullMarked
package dev.llmresilience.sample.aot;

import org.jspecify.annotations.NullMarked;
