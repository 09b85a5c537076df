package dev.llmresilience.limiter;

/**
 * What to do about a rejection. Immutable.
 *
 * @param explained whether an empty bucket of the pace that was held explains it: then
 * only the call itself waits, otherwise all do
 * @param freeAt when the call may go again, by the monotonic clock in nanoseconds
 */
record Reaction(boolean explained, long freeAt) {
}
