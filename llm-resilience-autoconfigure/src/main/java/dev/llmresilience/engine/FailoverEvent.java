package dev.llmresilience.engine;

import java.time.Instant;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import org.jspecify.annotations.Nullable;

/**
 * Another provider entry has taken over a call. Published as an application event.
 * Immutable.
 *
 * @param from the entry under which the call failed
 * @param to the entry that has taken it over
 * @param reason why it was given up there
 * @param kind the kind of failure that it ended with
 * @param at when
 */
public record FailoverEvent(String from, String to, GiveUpReason reason, @Nullable FailureKind kind, Instant at) {

}
