package dev.llmresilience.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport.Attempt;
import dev.llmresilience.LlmFailure;
import dev.llmresilience.policy.AttemptHistory;
import dev.llmresilience.policy.Decision.Retry;
import org.jspecify.annotations.Nullable;

/**
 * What only a call that failed at least once has to remember. Belongs to one call.
 */
final class Failures {

	final AttemptHistory history = new AttemptHistory();

	final List<Attempt> attempts = new ArrayList<>();

	@Nullable LlmFailure last;

	@Nullable Throwable thrown;

	/** Why the call ended, once it has. */
	@Nullable GiveUpReason reason;

	/** Whether the caller, or the application, has gone away. */
	boolean gone;

	private Duration wait = Duration.ZERO;

	void add(Throwable thrown, @Nullable LlmFailure failure) {
		this.thrown = thrown;
		this.last = failure;
		if (failure != null) {
			this.attempts.add(new Attempt(failure.kind(), failure.status(), failure.code(), this.wait));
		}
	}

	void addUnjudged(Throwable thrown) {
		if (this.thrown != thrown) {
			add(thrown, LlmFailure.of(FailureKind.APPLICATION));
		}
	}

	void retrying(Retry retry) {
		this.history.retrying(retry);
		this.wait = Duration.ofNanos(retry.delayNanos());
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

}
