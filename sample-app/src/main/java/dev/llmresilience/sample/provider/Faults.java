package dev.llmresilience.sample.provider;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.DoubleSupplier;

/**
 * The fault of one account, counted down as it hits, and the requests that hang on it.
 */
final class Faults {

	private final ReentrantLock lock = new ReentrantLock();

	private final DoubleSupplier random;

	private Fault current = Fault.NONE;

	private CountDownLatch hanging = new CountDownLatch(1);

	Faults(DoubleSupplier random) {
		this.random = random;
	}

	/**
	 * Decides what happens to the request that has just arrived.
	 * @return the fault that hits it, or {@link Fault#NONE}
	 */
	Hit next() {
		this.lock.lock();
		try {
			Fault fault = this.current;
			if (!fault.hits(this.random.getAsDouble())) {
				return new Hit(Fault.NONE, this.hanging);
			}
			Integer count = fault.count();
			if (count != null) {
				this.current = (count > 1) ? fault.times(count - 1) : Fault.NONE;
			}
			return new Hit(fault, this.hanging);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Switches to another fault and lets go of the requests that hang.
	 * @param fault the new fault
	 */
	void set(Fault fault) {
		this.lock.lock();
		try {
			this.current = fault;
			this.hanging.countDown();
			this.hanging = new CountDownLatch(1);
		}
		finally {
			this.lock.unlock();
		}
	}

	Fault current() {
		this.lock.lock();
		try {
			return this.current;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * A fault and the latch that is open once it has been switched off.
	 *
	 * @param fault the fault
	 * @param released the latch
	 */
	record Hit(Fault fault, CountDownLatch released) {
	}

}
