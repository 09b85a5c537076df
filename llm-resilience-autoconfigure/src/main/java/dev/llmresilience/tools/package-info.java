/**
 * What runs tools for a model, by library: a tool that may do harm when it runs twice
 * marks the protected call that it runs within.
 */
@NullMarked
package dev.llmresilience.tools;

import org.jspecify.annotations.NullMarked;
