package dev.llmresilience.engine;

import java.time.Instant;
import java.util.concurrent.CancellationException;

import dev.llmresilience.FailureKind;
import dev.llmresilience.GiveUpReason;
import dev.llmresilience.LlmCall;
import dev.llmresilience.LlmCallRefusedException;
import dev.llmresilience.LlmCallReport;
import org.jspecify.annotations.Nullable;

/**
 * What a call tells of itself: to the meters, to whoever traces, and, once it is over, to
 * listeners and to the call around it, and what its caller gets. Belongs to the driver
 * that makes the call.
 */
abstract class ReportedCall extends CallView {

	private final Invocation invocation;

	private final Provider provider;

	/** Made with the first call of the entry, when that begins. */
	private final CallMonitor monitor;

	private final @Nullable CallTrace trace;

	private final long start;

	private @Nullable Failures failures;

	/** What the last call within this one ended with. */
	private @Nullable NestedFailure nested;

	/**
	 * Begins to tell.
	 * @param invocation what the call is made for
	 * @param provider the entry that it is made under
	 * @param start when the call begins, on the monotonic clock
	 */
	ReportedCall(Invocation invocation, Provider provider, long start) {
		super(invocation.engine().time());
		this.invocation = invocation;
		this.provider = provider;
		this.monitor = provider.monitor();
		this.trace = invocation.engine().tracer().begin(provider.name(), invocation.parentTrace());
		this.start = start;
	}

	/** What it holds of the guards, which know how long it waited for them. */
	abstract Guards guards();

	Invocation invocation() {
		return this.invocation;
	}

	CallEngine engine() {
		return this.invocation.engine();
	}

	@Override
	String name() {
		return this.provider.name();
	}

	/** The entry that it is made under, or what stands for it under a key. */
	Provider entry() {
		return this.provider;
	}

	CallMonitor monitor() {
		return this.monitor;
	}

	long start() {
		return this.start;
	}

	/** Whether this is only judged and counted. */
	boolean isObserved() {
		return engine().isObserving();
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

	/**
	 * Finds what a call within this one has already given up on.
	 * @param thrown what an attempt threw
	 * @return it, or {@code null} if this is something else
	 */
	@Nullable NestedFailure nested(Throwable thrown) {
		return NestedFailure.find(thrown, this.nested);
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
			this.monitor.ended(null, engine().time().nanoTime() - this.start);
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
		long nanos = engine().time().nanoTime() - this.start;
		LlmCallReport report = failures.report(name(), retryAt, nanos);
		this.monitor.ended(failures.reason, nanos);
		if (this.trace != null) {
			this.trace.ended(report);
		}
		engine().listener().onCall(report);
		return report;
	}

	/**
	 * Ends the call because a guard refused it.
	 * @param refusal why
	 * @return what the caller gets: what the last attempt threw, or the refusal if there
	 * was none
	 */
	Throwable refused(LlmCallRefusedException refusal) {
		Throwable last = failures().lastThrownOrNull();
		if (refusal.reason() == GiveUpReason.SHUTDOWN && last != null) {
			refusal.initCause(last);
			last = null;
		}
		return end((last != null) ? last : refusal, refusal.reason(), refusal.retryAt());
	}

	/**
	 * Ends the call because its thread was interrupted while it waited.
	 * @return what the caller gets: what the last attempt threw, or a
	 * {@link CancellationException} if there was none
	 */
	Throwable cancelled() {
		Throwable last = failures().lastThrownOrNull();
		if (last == null) {
			last = new CancellationException("Interrupted while the call to '" + name() + "' waited for its turn");
		}
		return end(last, GiveUpReason.CANCELLED, null);
	}

	Throwable end(Throwable thrown, GiveUpReason reason, @Nullable Instant retryAt) {
		LlmCallReport report = reportEnd(reason, retryAt);
		if (this.invocation.outer() instanceof ReportedCall call) {
			call.nested = new NestedFailure(thrown, failures().last, failures().gone);
		}
		if (!isObserved() && LlmCallReport.find(thrown) == null) {
			thrown.addSuppressed(report);
		}
		return thrown;
	}

	/**
	 * A call shares the failure of an equal one, which has been given up for both.
	 * @param outer the call that it is nested in
	 * @param thrown what the other one threw
	 */
	static void shareFailure(@Nullable LlmCall outer, Throwable thrown) {
		LlmCallReport report = LlmCallReport.find(thrown);
		if (outer instanceof ReportedCall call && report != null) {
			call.nested = NestedFailure.of(thrown, report);
		}
	}

}
