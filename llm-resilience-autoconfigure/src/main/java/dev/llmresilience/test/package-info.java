/**
 * Virtual time for users' own tests: simulated clock, timers and threads, deterministic
 * by seed.
 */
@NullMarked
package dev.llmresilience.test;

import org.jspecify.annotations.NullMarked;
