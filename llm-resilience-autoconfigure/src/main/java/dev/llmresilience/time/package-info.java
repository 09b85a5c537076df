/**
 * Clock, scheduler and randomness behind one small seam, so that everything above it runs
 * in virtual time too.
 */
@NullMarked
package dev.llmresilience.time;

import org.jspecify.annotations.NullMarked;
