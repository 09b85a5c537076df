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

	private final Buckets buckets;

	private final Faults faults;

	private final Traffic traffic;

	private volatile Limits limits;

	private volatile boolean headers = true;

	private volatile CountDownLatch warmUp = new CountDownLatch(0);

	Account(Dialect dialect, Limits limits, LongSupplier nanoTime, DoubleSupplier random) {
		this.dialect = dialect;
		this.limits = limits;
		this.buckets = new Buckets(limits, nanoTime);
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
	 * Changes the limits and fills the buckets.
	 * @param limits the new limits
	 */
	public void limits(Limits limits) {
		this.limits = limits;
		this.buckets.limits(limits);
	}

	/**
	 * Whether answers carry the headers that tell the state of the limits.
	 * @return whether they do, as from the start
	 */
	public boolean headers() {
		return this.headers;
	}

	/**
	 * Switches the headers that tell the state of the limits.
	 * @param headers whether answers carry them
	 */
	public void headers(boolean headers) {
		this.headers = headers;
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
	 * How long the buckets take to be full if nothing arrives.
	 * @return the time, zero when they are full
	 */
	public Duration untilFull() {
		return this.buckets.peek(0).untilFull();
	}

	/**
	 * Lets the next requests for the model {@value EmbeddedProvider#WARM_UP_MODEL} wait
	 * for each other, so that each of them needs a connection of its own. They take
	 * nothing from the buckets and are not counted.
	 * @param requests how many
	 */
	public void gatherWarmUps(int requests) {
		this.warmUp = new CountDownLatch(requests);
	}

	Dialect dialect() {
		return this.dialect;
	}

	Buckets buckets() {
		return this.buckets;
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
