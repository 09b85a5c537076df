package dev.llmresilience.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport;
import dev.llmresilience.LlmCallReport.Attempt;
import dev.llmresilience.LlmCallReport.WaitCause;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.policy.AttemptHistory;
import dev.llmresilience.policy.Decision.Retry;
import org.jspecify.annotations.Nullable;

/**
 * What only a call that failed at least once has to remember. Belongs to one call.
 */
final class Failures {

	final AttemptHistory history = new AttemptHistory();

	private final List<Attempt> attempts = new ArrayList<>();

	@Nullable LlmFailure last;

	/** Why the call ended, once it has. */
	@Nullable GiveUpReason reason;

	/** Whether the caller, or the application, has gone away. */
	boolean gone;

	private @Nullable Throwable thrown;

	private Duration wait = Duration.ZERO;

	private WaitCause cause = WaitCause.NONE;

	/**
	 * An attempt has failed.
	 * @param thrown what it threw
	 * @param failure how that was judged, or {@code null} where a call within it judged
	 * @param guards know how long it waited for them
	 */
	void add(Throwable thrown, @Nullable LlmFailure failure, Guards guards) {
		this.thrown = thrown;
		this.last = failure;
		if (failure != null) {
			add(failure.kind(), failure.status(), failure.code(), guards);
		}
	}

	void addUnjudged(Throwable thrown, Guards guards) {
		if (this.thrown != thrown) {
			add(thrown, LlmFailure.of(FailureKind.APPLICATION), guards);
		}
	}

	/** The last attempt has succeeded. */
	void addSuccess(Guards guards) {
		add(null, 0, null, guards);
	}

	private void add(@Nullable FailureKind kind, int status, @Nullable String code, Guards guards) {
		Duration limiter = Duration.ofNanos(guards.limiter().takeQueuedNanos());
		Duration breaker = Duration.ofNanos(guards.takeRoomNanos());
		boolean mostlyBreaker = breaker.compareTo(this.wait) > 0;
		this.attempts.add(new Attempt(kind, status, code, this.wait.plus(breaker),
				mostlyBreaker ? WaitCause.BREAKER : this.cause, limiter));
		this.wait = Duration.ZERO;
		this.cause = WaitCause.NONE;
	}

	void retrying(Retry retry) {
		this.history.retrying(retry);
		this.wait = Duration.ofNanos(retry.delayNanos());
		this.cause = retry.cause();
	}

	void end(GiveUpReason reason) {
		this.gone |= NestedFailure.isGone(reason);
		this.reason = reason;
	}

	LlmCallReport report(String provider, @Nullable Instant retryAt, long nanos) {
		return new LlmCallReport(provider, this.attempts, this.reason, retryAt, Duration.ofNanos(nanos));
	}

	@Nullable Throwable lastThrownOrNull() {
		return this.thrown;
	}

	Throwable lastThrown() {
		Throwable thrown = this.thrown;
		if (thrown == null) {
			throw new IllegalStateException("No attempt has failed");
		}
		return thrown;
	}

	/**
	 * Whether a fallback may answer instead: never where it would hide a request that was
	 * wrong or a bug of the caller's own, and not for a caller that went away.
	 * @return whether it may
	 */
	boolean mayFallBack() {
		LlmFailure last = this.last;
		return !this.gone && (last == null || (last.kind() != FailureKind.INVALID_REQUEST
				&& last.kind() != FailureKind.APPLICATION && last.kind() != FailureKind.CANCELLED));
	}

}
