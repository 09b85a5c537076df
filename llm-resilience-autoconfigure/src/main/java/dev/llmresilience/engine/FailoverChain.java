package dev.llmresilience.engine;

import java.util.ArrayList;
import java.util.List;

import dev.llmresilience.engine.CallPlan.Target;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The calls that are made for one invocation, one provider entry after the other. Belongs
 * to one invocation, and is only needed once a call has failed.
 */
final class FailoverChain {

	private static final Log logger = LogFactory.getLog(FailoverChain.class);

	private final CallEngine engine;

	private final CallPlan plan;

	private final @Nullable Object key;

	private final long tokens;

	private final List<Target> left;

	/** What the first call failed with. */
	private final Throwable surfaced;

	/** Whether a fallback would hide nothing that any of the calls failed with. */
	private boolean mayFallBack;

	/**
	 * Creates a chain.
	 * @param engine what all calls share
	 * @param plan the entries
	 * @param key the key whose guards the calls are under, or {@code null}
	 * @param tokens the tokens that they are estimated to use
	 * @param first the first call, which has failed for good
	 * @param thrown what it failed with: what the caller gets if nobody can help
	 */
	FailoverChain(CallEngine engine, CallPlan plan, @Nullable Object key, long tokens, Call first, Throwable thrown) {
		this.engine = engine;
		this.plan = plan;
		this.key = key;
		this.tokens = tokens;
		this.surfaced = thrown;
		this.mayFallBack = first.mayFallBack();
		this.left = new ArrayList<>(plan.failover());
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
		long now = this.engine.time().nanoTime();
		if (this.left.isEmpty() || failed.deadline() - now <= 0 || !failed.mayFailOver()) {
			return null;
		}
		Target target = this.left.remove(0);
		return failed.handOver(target, this.key, this.tokens, !this.left.isEmpty());
	}

	/**
	 * A call that took over has failed for good.
	 * @param call the call
	 * @param thrown what it failed with
	 */
	void failed(Call call, Throwable thrown) {
		warnIfBlind(call);
		this.mayFallBack &= call.mayFallBack();
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
		if (call.isBlind() && this.plan.warnsNow()) {
			logger.warn("A call of " + this.plan.name() + " was handed over to '" + call.name()
					+ "', but the method did not ask LlmCall.current().provider() which model to call, so it has "
					+ "probably called the one that failed. Choose the model by that name, or remove the failover.");
		}
	}

}
