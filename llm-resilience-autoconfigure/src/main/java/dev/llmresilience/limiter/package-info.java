/**
 * The client-side rate limiter, usable on its own.
 */
@NullMarked
package dev.llmresilience.limiter;

import org.jspecify.annotations.NullMarked;
