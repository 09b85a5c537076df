package dev.llmresilience.engine;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

/**
 * Under which provider entries the calls of one method are made. Shared by all of them;
 * thread-safe.
 */
public final class CallPlan {

	private final String name;

	private final Target first;

	private final List<Target> failover;

	private final AtomicBoolean warned = new AtomicBoolean();

	/**
	 * Creates a plan.
	 * @param name whose calls they are, for messages
	 * @param first the entry that calls are made under
	 * @param failover the entries that take over, in order
	 */
	public CallPlan(String name, Target first, List<Target> failover) {
		this.name = name;
		this.first = first;
		this.failover = List.copyOf(failover);
	}

	/**
	 * A plan without failover.
	 * @param provider the entry
	 * @param options how calls are made
	 * @return the plan
	 */
	public static CallPlan of(Provider provider, CallOptions options) {
		return new CallPlan(provider.name(), new Target(provider, options, null), List.of());
	}

	String name() {
		return this.name;
	}

	/**
	 * The entry that calls are made under.
	 * @return the entry and how calls are made
	 */
	public Target first() {
		return this.first;
	}

	/**
	 * The entries that take over, in order.
	 * @return the entries, and how calls are made under them
	 */
	public List<Target> failover() {
		return this.failover;
	}

	/**
	 * Whether the limiter of any of the entries counts tokens, so that calls should bring
	 * an estimate.
	 * @return whether one does
	 */
	public boolean countsTokens() {
		if (this.first.provider.limiter().countsTokens()) {
			return true;
		}
		for (Target target : this.failover) {
			if (target.provider.limiter().countsTokens()) {
				return true;
			}
		}
		return false;
	}

	/** Whether this is the first time that a reason to warn is found. */
	boolean warnsNow() {
		return this.warned.compareAndSet(false, true);
	}

	/**
	 * A provider entry, and how calls are made under it.
	 *
	 * @param provider the entry
	 * @param options how calls are made
	 * @param keyed the guards of the values of a key, or {@code null} where there is none
	 */
	public record Target(Provider provider, CallOptions options, @Nullable KeyedProviders keyed) {

		@Nullable KeyedProvider lease(@Nullable Object key) {
			return (this.keyed != null && key != null) ? this.keyed.lease(key) : null;
		}

	}

}
