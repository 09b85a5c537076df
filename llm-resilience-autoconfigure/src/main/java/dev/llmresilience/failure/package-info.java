/**
 * From a throwable to a judged failure: readers per client library, rules per provider,
 * hint parsing.
 */
@NullMarked
package dev.llmresilience.failure;

import org.jspecify.annotations.NullMarked;
