/**
 * Auto-configuration, properties and failure analyzers: the only place that knows all the
 * others.
 */
@NullMarked
package dev.llmresilience.autoconfigure;

import org.jspecify.annotations.NullMarked;
