/**
 * From an annotated method to a call.
 */
@NullMarked
package dev.llmresilience.aop;

import org.jspecify.annotations.NullMarked;
