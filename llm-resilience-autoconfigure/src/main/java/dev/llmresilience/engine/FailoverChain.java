package dev.llmresilience.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import dev.llmresilience.GiveUpReason;
import dev.llmresilience.engine.CallMonitor.Intervention;
import dev.llmresilience.engine.CallPlan.Target;
import dev.llmresilience.engine.CallView.Invocation;
import dev.llmresilience.policy.FailoverRule;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The calls that are made for one invocation, one provider entry after the other. Belongs
 * to one invocation, and is only needed once a call has failed.
 */
final class FailoverChain {

	private static final Log logger = LogFactory.getLog(FailoverChain.class);

	private final Invocation invocation;

	private final List<Target> left;

	/** What the first call failed with. */
	private final Throwable surfaced;

	/** Whether a fallback would hide nothing that any of the calls failed with. */
	private boolean mayFallBack;

	/**
	 * Creates a chain.
	 * @param invocation what the calls are made for
	 * @param first the first call, which has failed for good
	 * @param thrown what it failed with: what the caller gets if nobody can help
	 */
	FailoverChain(Invocation invocation, Call first, Throwable thrown) {
		this.invocation = invocation;
		this.surfaced = thrown;
		this.mayFallBack = mayFallBack(first);
		this.left = new ArrayList<>(invocation.plan().failover());
	}

	Throwable surfaced() {
		return this.surfaced;
	}

	boolean mayFallBack() {
		return this.mayFallBack;
	}

	/**
	 * Hands the invocation on to the next provider entry.
	 * @param failed the call that has failed for good
	 * @return the next call, or {@code null} if nobody may take over
	 */
	@Nullable Call next(Call failed) {
		long now = this.invocation.engine().time().nanoTime();
		if (this.left.isEmpty() || this.invocation.deadline() - now <= 0 || !mayTakeOver(failed)) {
			return null;
		}
		Target target = this.left.remove(0);
		tell(failed, target.provider().name());
		return new Call(this.invocation, target, this.invocation.engine().time().nanoTime(), !this.left.isEmpty());
	}

	private static boolean mayTakeOver(Call failed) {
		Failures failures = failed.failures();
		GiveUpReason reason = failures.reason;
		boolean allowed = reason != null && !failures.gone && FailoverRule.allows(failed.settings().failoverOn(),
				reason, failures.last, failed.hasSideEffect(), failed.mayRepeat());
		if (allowed && failed.isObserved()) {
			failed.monitor().observed(Intervention.FAILED_OVER);
			return false;
		}
		return allowed;
	}

	private void tell(Call failed, String next) {
		Failures failures = failed.failures();
		GiveUpReason reason = Objects.requireNonNull(failures.reason);
		failed.entry()
			.onFailover(new FailoverEvent(failed.name(), next, reason, FailoverRule.kind(reason, failures.last),
					this.invocation.engine().time().now()));
		failed.monitor().failedOver(next);
	}

	private static boolean mayFallBack(Call failed) {
		return !failed.isObserved() && failed.failures().mayFallBack();
	}

	/**
	 * A call that took over has failed for good.
	 * @param call the call
	 * @param thrown what it failed with
	 */
	void failed(Call call, Throwable thrown) {
		warnIfBlind(call);
		this.mayFallBack &= mayFallBack(call);
		if (thrown != this.surfaced) {
			this.surfaced.addSuppressed(thrown);
		}
	}

	/**
	 * A call that took over has succeeded.
	 * @param call the call
	 */
	void succeeded(Call call) {
		warnIfBlind(call);
	}

	/** A method that never asks for the provider calls the one that has failed again. */
	private void warnIfBlind(Call call) {
		CallPlan plan = this.invocation.plan();
		if (call.isBlind() && plan.warnsNow()) {
			logger.warn("A call of " + plan.name() + " was handed over to '" + call.name()
					+ "', but the method did not ask LlmCall.current().provider() which model to call, so it has "
					+ "probably called the one that failed. Choose the model by that name, or remove the failover.");
		}
	}

}
