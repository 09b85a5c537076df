/**
 * Answers to the application's own callers, where a call to a model was refused.
 */
@NullMarked
package dev.llmresilience.web;

import org.jspecify.annotations.NullMarked;
