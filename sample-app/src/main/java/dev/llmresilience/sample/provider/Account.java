package dev.llmresilience.sample.provider;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/**
 * One account of the embedded provider: its limits, its fault and what has arrived. Each
 * API has an account of its own, as one's Anthropic and OpenAI keys have nothing to do
 * with each other.
 */
public final class Account {

	private final Dialect dialect;

	private final TokenBucket bucket;

	private final Faults faults;

	private final Traffic traffic;

	private volatile Limits limits;

	private volatile CountDownLatch warmUp = new CountDownLatch(0);

	Account(Dialect dialect, Limits limits, LongSupplier nanoTime, DoubleSupplier random) {
		this.dialect = dialect;
		this.limits = limits;
		this.bucket = new TokenBucket(limits, nanoTime);
		this.faults = new Faults(random);
		this.traffic = new Traffic(nanoTime);
	}

	/**
	 * The limits in force.
	 * @return the limits
	 */
	public Limits limits() {
		return this.limits;
	}

	/**
	 * Changes the limits and fills the bucket.
	 * @param limits the new limits
	 */
	public void limits(Limits limits) {
		this.limits = limits;
		this.bucket.limits(limits);
	}

	/**
	 * The fault that is switched on.
	 * @return the fault with the count that it has left
	 */
	public Fault fault() {
		return this.faults.current();
	}

	/**
	 * Switches to another fault. Requests that hang lose their connection.
	 * @param fault the fault, {@link Fault#NONE} for none
	 */
	public void fault(Fault fault) {
		this.faults.set(fault);
	}

	/**
	 * What arrived since the counts were last reset.
	 * @return the counts
	 */
	public Counts counts() {
		return this.traffic.counts();
	}

	/**
	 * Starts counting from zero.
	 */
	public void resetCounts() {
		this.traffic.reset();
	}

	/**
	 * How long the bucket takes to be full if nothing arrives.
	 * @return the time, zero when it is full
	 */
	public Duration untilFull() {
		return this.bucket.peek().untilFull();
	}

	/**
	 * Lets the next requests for the model {@value EmbeddedProvider#WARM_UP_MODEL} wait
	 * for each other, so that each of them needs a connection of its own. They take no
	 * token and are not counted.
	 * @param requests how many
	 */
	public void gatherWarmUps(int requests) {
		this.warmUp = new CountDownLatch(requests);
	}

	Dialect dialect() {
		return this.dialect;
	}

	TokenBucket bucket() {
		return this.bucket;
	}

	Faults faults() {
		return this.faults;
	}

	Traffic traffic() {
		return this.traffic;
	}

	CountDownLatch warmUp() {
		return this.warmUp;
	}

}
