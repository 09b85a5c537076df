package dev.llmresilience.engine;

import java.time.Instant;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCallReport;
import org.jspecify.annotations.Nullable;

/**
 * What a call tells of itself: to the meters, to whoever traces, and, once it is over, to
 * listeners in a report. Belongs to the driver that makes the call.
 */
abstract class ReportedCall extends CallView {

	private final CallEngine engine;

	private final String name;

	private final CallMonitor monitor;

	private final @Nullable CallTrace trace;

	private final long start;

	private @Nullable Failures failures;

	/**
	 * Begins to tell.
	 * @param engine what the call shares with all others
	 * @param provider the entry that it is made under
	 * @param parentTrace what its trace belongs to, or {@code null} for what the calling
	 * thread does
	 * @param start when the call begins, on the monotonic clock
	 */
	ReportedCall(CallEngine engine, Provider provider, @Nullable Object parentTrace, long start) {
		super(engine.time());
		this.engine = engine;
		this.name = provider.name();
		this.monitor = provider.monitor();
		this.trace = engine.tracer().begin(this.name, parentTrace);
		this.start = start;
	}

	/** What it holds of the guards, which know how long it waited for them. */
	abstract Guards guards();

	CallEngine engine() {
		return this.engine;
	}

	@Override
	String name() {
		return this.name;
	}

	CallMonitor monitor() {
		return this.monitor;
	}

	long start() {
		return this.start;
	}

	/** Whether this is only judged and counted. */
	boolean isObserved() {
		return this.engine.isObserving();
	}

	/** Makes what the calling thread does belong to the trace, if there is one. */
	CallTrace.@Nullable Scope openTrace() {
		return (this.trace != null) ? this.trace.open() : null;
	}

	/** What stands for the trace in a Reactor context, or {@code null} without one. */
	@Nullable Object traceValue() {
		return (this.trace != null) ? this.trace.contextValue() : null;
	}

	boolean isRetry() {
		return this.failures != null;
	}

	Failures failures() {
		Failures failures = this.failures;
		if (failures == null) {
			failures = new Failures();
			this.failures = failures;
		}
		return failures;
	}

	void attemptEnded(@Nullable FailureKind kind) {
		this.monitor.attemptEnded(kind);
		if (this.trace != null) {
			this.trace.attemptEnded(kind);
		}
	}

	/** The last attempt, and so the call, has succeeded. */
	void reportSuccess() {
		attemptEnded(null);
		if (this.failures != null) {
			this.failures.addSuccess(guards());
			report(null);
		}
		else if (this.monitor != CallMonitor.NONE || this.trace != null) {
			this.monitor.ended(null, this.engine.time().nanoTime() - this.start);
			if (this.trace != null) {
				this.trace.ended(null);
			}
		}
	}

	/**
	 * The call has failed for good.
	 * @param reason why
	 * @param retryAt when it makes sense to call again, or {@code null} where unknown
	 * @return what happened
	 */
	LlmCallReport reportEnd(GiveUpReason reason, @Nullable Instant retryAt) {
		failures().end(reason);
		return report(retryAt);
	}

	private LlmCallReport report(@Nullable Instant retryAt) {
		Failures failures = failures();
		long nanos = this.engine.time().nanoTime() - this.start;
		LlmCallReport report = failures.report(this.name, retryAt, nanos);
		this.monitor.ended(failures.reason, nanos);
		if (this.trace != null) {
			this.trace.ended(report);
		}
		this.engine.listener().onCall(report);
		return report;
	}

}
