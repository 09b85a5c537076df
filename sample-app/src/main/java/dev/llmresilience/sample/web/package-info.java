/**
 * The application's HTTP endpoints.
 */
@NullMarked
package dev.llmresilience.sample.web;

import org.jspecify.annotations.NullMarked;
