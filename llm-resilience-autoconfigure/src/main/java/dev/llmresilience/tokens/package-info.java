/**
 * From a result to the tokens that it has used: readers per client library.
 */
@NullMarked
package dev.llmresilience.tokens;

import org.jspecify.annotations.NullMarked;
