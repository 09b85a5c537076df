/**
 * The pure decision: attempt history, failure and time in; retry after d, or give up
 * because r, out.
 */
@NullMarked
package dev.llmresilience.policy;

import org.jspecify.annotations.NullMarked;
