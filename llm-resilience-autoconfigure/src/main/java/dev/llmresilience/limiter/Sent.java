package dev.llmresilience.limiter;

/**
 * A call that was sent. Immutable.
 *
 * @param at when, by the monotonic clock in nanoseconds
 * @param number what all calls cost up to it, itself included
 * @param cost what it cost
 */
record Sent(long at, double number, double cost) {
}
