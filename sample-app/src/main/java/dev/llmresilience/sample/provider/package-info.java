/**
 * The embedded provider: a small HTTP server that speaks the Anthropic Messages API and
 * the OpenAI chat completions API, rations requests and breaks on request. It knows
 * nothing of the rest of the application.
 */
@NullMarked
package dev.llmresilience.sample.provider;

import org.jspecify.annotations.NullMarked;
