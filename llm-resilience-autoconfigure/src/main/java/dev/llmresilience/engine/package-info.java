/**
 * The life of a call: drivers that only wait differently, over one decision.
 */
@NullMarked
package dev.llmresilience.engine;

import org.jspecify.annotations.NullMarked;
