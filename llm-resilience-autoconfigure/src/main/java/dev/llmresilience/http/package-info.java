/**
 * Hooks in HTTP clients: they add the idempotency key to the requests of a protected
 * call, and what responses say about limits goes to its limiter.
 */
@NullMarked
package dev.llmresilience.http;

import org.jspecify.annotations.NullMarked;
