/**
 * Hooks in HTTP clients: what responses say about limits goes to the limiter of the
 * protected call that made the request.
 */
@NullMarked
package dev.llmresilience.http;

import org.jspecify.annotations.NullMarked;
