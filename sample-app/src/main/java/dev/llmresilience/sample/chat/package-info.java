/**
 * The services that call a model.
 */
@NullMarked
package dev.llmresilience.sample.chat;

import org.jspecify.annotations.NullMarked;
